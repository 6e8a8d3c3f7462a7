"""TLS servers that send one message of the handshake for ever, each of which OpenSSL handles inside one call.

    with flooding("hello_requests_first", folder / "good.pem", seconds=5) as port: ...

    hello_requests_first   in the clear, instead of a ServerHello
    hello_requests         TLS 1.2, encrypted, after the handshake: each asks for renegotiation
    tickets                TLS 1.3, NewSessionTicket after the handshake
    key_updates            TLS 1.3, KeyUpdate after the handshake

Python's ssl cannot send these messages.  It does the handshake in memory and tells the secrets (as for a key
log); from there on this module encrypts the records itself.
"""

from __future__ import annotations

import hashlib
import hmac
import socket
import ssl
import struct
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HANDSHAKE = 22
APPLICATION_DATA = 23
HELLO_REQUEST = bytes(4)
# A ticket of two bytes with one byte of nonce, valid for an hour; 20 bytes with its header.
TICKET = b"\x04\x00\x00\x10" + struct.pack(">II", 3600, 7) + b"\x01\x00\x00\x02TT\x00\x00"
KEY_UPDATE = b"\x18\x00\x00\x01\x00"
BATCH_BYTES = 1 << 16


@contextmanager
def flooding(kind: str, certificate: Path, seconds: float = 10.0, host: str = "127.0.0.1") -> Iterator[int]:
    """Serve a flood on a free port; every connection ends after some seconds or when the client leaves."""
    listener = socket.create_server((host, 0))

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection = listener.accept()[0]
                threading.Thread(target=_serve, args=(kind, connection, certificate, seconds)).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def _serve(kind: str, connection: socket.socket, certificate: Path, seconds: float) -> None:
    until = time.monotonic() + seconds
    with connection, suppress(OSError):
        connection.settimeout(seconds)
        records = _records(kind, connection, certificate)
        while time.monotonic() < until:
            batch = bytearray()
            while len(batch) < BATCH_BYTES:
                batch += next(records)
            connection.sendall(batch)


def _records(kind: str, connection: socket.socket, certificate: Path) -> Iterator[bytes]:
    if kind == "hello_requests_first":
        connection.recv(1 << 16)
        while True:
            yield (b"\x16\x03\x03\x00\x04" + HELLO_REQUEST) * 1000
    elif kind == "hello_requests":
        yield from _tls12(_Handshake(connection, certificate, ssl.TLSVersion.TLSv1_2))
    else:
        handshake = _Handshake(connection, certificate, ssl.TLSVersion.TLSv1_3)
        yield from _tls13(handshake, TICKET * 800 if kind == "tickets" else KEY_UPDATE, kind == "key_updates")


class _Handshake:
    """A handshake done by Python's ssl in memory, and what is needed to go on without it."""

    def __init__(self, connection: socket.socket, certificate: Path, version: ssl.TLSVersion) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        context.minimum_version = context.maximum_version = version
        context.num_tickets = 0
        if version is ssl.TLSVersion.TLSv1_2:
            context.set_ciphers("ECDHE+AES128+AESGCM")
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = context.wrap_bio(incoming, outgoing, server_side=True)
        self.sent = b""
        with tempfile.NamedTemporaryFile() as log:
            context.keylog_filename = log.name
            while not _is_done(tls):
                self._send(connection, outgoing)
                incoming.write(connection.recv(1 << 16))
            self._send(connection, outgoing)
            lines = Path(log.name).read_text(encoding="ascii").splitlines()
        fields = [line.split() for line in lines if not line.startswith("#")]
        self.client_random = bytes.fromhex(fields[0][1])
        self.secrets = {name: bytes.fromhex(secret) for name, _, secret in fields}
        self.hash = hashlib.sha384 if "SHA384" in (tls.cipher() or ("",))[0] else hashlib.sha256

    def _send(self, connection: socket.socket, outgoing: ssl.MemoryBIO) -> None:
        data = outgoing.read()
        self.sent += data
        connection.sendall(data)


def _is_done(tls: ssl.SSLObject) -> bool:
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        return False
    return True


def _tls12(handshake: _Handshake) -> Iterator[bytes]:
    """Yield encrypted HelloRequests of TLS 1.2 (RFC 5246, RFC 5288)."""
    server_random = handshake.sent[11:43]
    seed = b"key expansion" + server_random + handshake.client_random
    block = _prf(handshake.secrets["CLIENT_RANDOM"], seed, 40)
    cipher, salt = AESGCM(block[16:32]), block[36:40]
    number = 1  # 0 was that of Finished
    while True:
        nonce = struct.pack(">Q", number)
        head = nonce + struct.pack(">BHH", HANDSHAKE, 0x0303, len(HELLO_REQUEST))
        body = nonce + cipher.encrypt(salt + nonce, HELLO_REQUEST, head)
        yield struct.pack(">BHH", HANDSHAKE, 0x0303, len(body)) + body
        number += 1


def _prf(secret: bytes, seed: bytes, size: int) -> bytes:
    block, made = seed, b""
    while len(made) < size:
        block = hmac.digest(secret, block, "sha256")
        made += hmac.digest(secret, block + seed, "sha256")
    return made[:size]


def _tls13(handshake: _Handshake, messages: bytes, changes_keys: bool) -> Iterator[bytes]:
    """Yield encrypted records of TLS 1.3 (RFC 8446), with new keys for each where they are key updates."""
    secret, number = handshake.secrets["SERVER_TRAFFIC_SECRET_0"], 0
    size = 32 if handshake.hash is hashlib.sha384 else 16
    plain = messages + bytes([HANDSHAKE])
    head = struct.pack(">BHH", APPLICATION_DATA, 0x0303, len(plain) + 16)
    while True:
        if not number or changes_keys:
            cipher = AESGCM(_expand(handshake.hash, secret, b"key", size))
            base = int.from_bytes(_expand(handshake.hash, secret, b"iv", 12), "big")
        yield head + cipher.encrypt((base ^ number).to_bytes(12, "big"), plain, head)
        if changes_keys:
            secret = _expand(handshake.hash, secret, b"traffic upd", len(secret))
        else:
            number += 1


def _expand(hashed: Callable[[], object], secret: bytes, label: bytes, size: int) -> bytes:
    info = struct.pack(">HB", size, 6 + len(label)) + b"tls13 " + label + b"\x00\x01"
    return hmac.new(secret, info, hashed).digest()[:size]  # type: ignore[arg-type]
