"""Switches TLS renegotiation off in the OpenSSL that pycurl brings along.

A server may ask a client for a new handshake at any time (TLS 1.2 and older).  No web site needs it, HTTP/2
forbids it (RFC 9113 §9.2.1), and it costs a client far more than a server.  libcurl has no option for it, and
as pycurl's wheels are built it reads no openssl.cnf; but their OpenSSL lies beside them as a library of its
own, which can be given the same setting in memory.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import pycurl

# "system_default" holds for every context that is made from now on.
_SETTINGS = b"""
openssl_conf = crawlctl
[crawlctl]
ssl_conf = crawlctl_ssl
[crawlctl_ssl]
system_default = crawlctl_tls
[crawlctl_tls]
Options = NoRenegotiation
"""


@lru_cache(maxsize=1)
def refuse_renegotiation() -> bool:
    """Make libcurl refuse renegotiation in this process; whether that was possible.

    A libcurl that uses the OpenSSL of the system is left alone: the settings of the system's openssl.cnf
    would be lost.  There the time-outs and the watchdog have to do.
    """
    library = _own_library()
    return library is not None and _configure(library)


def _own_library() -> Path | None:
    folder = Path(pycurl.__file__).parent
    for libraries in (folder.parent / "pycurl.libs", folder / ".dylibs"):
        for library in libraries.glob("libcrypto*"):
            return library
    return None


def _configure(path: Path) -> bool:
    from ctypes import CDLL, c_char_p, c_int, c_ulong, c_void_p

    try:
        crypto = CDLL(str(path))  # loaded already: this only finds it again
        crypto.NCONF_new.restype = crypto.BIO_new_mem_buf.restype = c_void_p
        configuration = c_void_p(crypto.NCONF_new(None))
        text = c_void_p(crypto.BIO_new_mem_buf(c_char_p(_SETTINGS), c_int(len(_SETTINGS))))
        is_read = crypto.NCONF_load_bio(configuration, text, None) == 1
        crypto.BIO_free(text)
        crypto.OPENSSL_load_builtin_modules()
        is_set = is_read and crypto.CONF_modules_load(configuration, None, c_ulong(0)) == 1
        crypto.NCONF_free(configuration)
    except (OSError, AttributeError):  # another build, without these names
        return False
    return bool(is_set)
