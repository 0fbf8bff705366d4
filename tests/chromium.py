"""How tests and benchmark start Debian's Chromium."""

# Quiet and at home; --no-sandbox because both may run as root.
CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
