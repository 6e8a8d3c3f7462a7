"""Switches TLS renegotiation off in the OpenSSL library that comes with pycurl.

With TLS 1.2 and older a server may ask a client for a new handshake at any time. No web site needs this,
HTTP/2 forbids it (RFC 9113 §9.2.1), and it costs the client far more than the server. libcurl has no option
for it, and the OpenSSL in pycurl's wheels reads no openssl.cnf. But that OpenSSL is a separate library file,
so we can load the same setting into it from memory.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import pycurl

# "system_default" applies to every TLS context that is created from now on.
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
    """Make libcurl refuse renegotiation in this process; return whether that was possible.

    If libcurl uses the system's OpenSSL we change nothing, because the settings of the system's openssl.cnf
    would be lost. Then only the time-outs and the watchdog protect us.
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
        crypto = CDLL(str(path))  # it is loaded already; this only returns a handle
        crypto.NCONF_new.restype = crypto.BIO_new_mem_buf.restype = c_void_p
        configuration = c_void_p(crypto.NCONF_new(None))
        text = c_void_p(crypto.BIO_new_mem_buf(c_char_p(_SETTINGS), c_int(len(_SETTINGS))))
        is_read = crypto.NCONF_load_bio(configuration, text, None) == 1
        crypto.BIO_free(text)
        crypto.OPENSSL_load_builtin_modules()
        is_set = is_read and crypto.CONF_modules_load(configuration, None, c_ulong(0)) == 1
        crypto.NCONF_free(configuration)
    except (OSError, AttributeError):  # a build of OpenSSL without these functions
        return False
    return bool(is_set)
