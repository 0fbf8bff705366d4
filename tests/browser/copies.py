"""What a browser keeps of what is typed and not filed yet."""

from __future__ import annotations

from playwright.sync_api import Page

_KEYS = """() => new Promise((resolve, reject) => {
  const opening = indexedDB.open("emma", 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore("copies");
  opening.onerror = () => reject(opening.error);
  opening.onsuccess = () => {
    const request = opening.result.transaction("copies").objectStore("copies").getAllKeys();
    request.onsuccess = () => { opening.result.close(); resolve(request.result); };
  };
})"""


def copies(page: Page) -> list[str]:
    """The keys of the copies, of whomever."""
    found: list[str] = page.evaluate(_KEYS)
    return found
