"""Certificates for bad_server.py: a small authority, one good certificate, and three that must be refused."""

from __future__ import annotations

import datetime
from ipaddress import IPv4Address
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime.datetime.now(datetime.UTC)
DAY = datetime.timedelta(days=1)


def write_certificates(folder: Path, host: str) -> None:
    """Write authority.pem, and for each server NAME.pem with key and certificate."""
    authority_key = ec.generate_private_key(ec.SECP256R1())
    name_of_authority = f"authority-{host}"  # two of one name could not be told apart in one file
    authority = certificate(
        name_of_authority, authority_key, name_of_authority, authority_key, is_authority=True
    )
    (folder / "authority.pem").write_bytes(pem(authority))
    yesterday = (NOW - 30 * DAY, NOW - DAY)
    for name, common_name, issuer, valid in (
        ("good", host, name_of_authority, None),
        ("expired", host, name_of_authority, yesterday),
        ("other_host", "other.example", name_of_authority, None),
        ("self_signed", host, host, None),
    ):
        key = ec.generate_private_key(ec.SECP256R1())
        signer = authority_key if issuer == name_of_authority else key
        written = certificate(common_name, key, issuer, signer, valid or (NOW - DAY, NOW + DAY))
        (folder / f"{name}.pem").write_bytes(private(key) + pem(written))


def certificate(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: str,
    signer: ec.EllipticCurvePrivateKey,
    valid: tuple[datetime.datetime, datetime.datetime] = (NOW - DAY, NOW + DAY),
    is_authority: bool = False,
) -> x509.Certificate:
    is_address = name.replace(".", "").isdigit()
    names = [x509.IPAddress(IPv4Address(name)) if is_address else x509.DNSName(name)]
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(valid[0])
        .not_valid_after(valid[1])
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(is_authority, None), critical=True)
        .sign(signer, hashes.SHA256())
    )


def pem(written: x509.Certificate) -> bytes:
    return written.public_bytes(serialization.Encoding.PEM)


def private(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
