"""An authority for tests, and what it vouches for."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Authority:
    """Signs certificates for names; `trusting` is a client's context that believes it and nobody else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Authority of the tests")])
        self.own = self._sign(self.name, self.key, "", days=1, is_authority=True)

    def trusting(self) -> ssl.SSLContext:
        path = self.folder / "authority.pem"
        path.write_bytes(self.own.public_bytes(serialization.Encoding.PEM))
        return ssl.create_default_context(cafile=str(path))

    def server_for(self, host: str, *, days: int = 1) -> ssl.SSLContext:
        """What a server proves itself with as this host; with days below zero it is over."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._sign(x509.Name([]), key, host, days=days)
        path = self.folder / f"{host}-{days}.pem"
        plain = serialization.NoEncryption()
        path.write_bytes(
            key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context

    def _sign(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, host: str, *, days: int, is_authority: bool = False
    ) -> x509.Certificate:
        ends = datetime.now(UTC) + timedelta(days=days)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self.name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(ends - timedelta(days=2))
            .not_valid_after(ends)
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), critical=False)
        )
        if is_authority:
            usage = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
            builder = builder.add_extension(usage, critical=True)
        else:
            builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=True)
        return builder.sign(self.key, hashes.SHA256())
