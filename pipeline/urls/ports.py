"""Ports of other protocols, from which neither browsers nor we fetch.

A link to `http://mail.example:25/` would make us talk HTTP to a mail server, in the name of the operator of
the crawl. The list comes from the fetch standard, https://fetch.spec.whatwg.org/#bad-port.
"""

from __future__ import annotations

from crawlctl.pipeline.errors import UrlError

_SERVICES = """
    0 reserved, 1 tcpmux, 7 echo, 9 discard, 11 systat, 13 daytime, 15 netstat, 17 qotd, 19 chargen, 20
    ftp-data, 21 ftp, 22 ssh, 23 telnet, 25 smtp, 37 time, 42 name, 43 nicname, 53 domain, 69 tftp, 77
    private mail, 79 finger, 87 ttylink, 95 supdup, 101 hostname, 102 iso-tsap, 103 gppitnp, 104 acr-nema,
    109 pop2, 110 pop3, 111 sunrpc, 113 auth, 115 sftp, 117 uucp-path, 119 nntp, 123 ntp, 135 epmap, 137
    netbios-ns, 139 netbios-ssn, 143 imap, 161 snmp, 179 bgp, 389 ldap, 427 svrloc, 465 submissions, 512
    exec, 513 login, 514 shell, 515 printer, 526 tempo, 530 courier, 531 chat, 532 netnews, 540 uucp, 548
    afp, 554 rtsp, 556 remotefs, 563 nntps, 587 submission, 601 syslog-conn, 636 ldaps, 989 ftps-data, 990
    ftps, 993 imaps, 995 pop3s, 1719 h323gatestat, 1720 h323hostcall, 1723 pptp, 2049 nfs, 3659
    apple-sasl, 4045 npp, 4190 sieve, 5060 sip, 5061 sips, 6000 x11, 6566 sane-port, 6665 ircu, 6666 ircu,
    6667 ircu, 6668 ircu, 6669 ircu, 6679 osaut, 6697 ircs-u, 10080 amanda
"""
BAD_PORTS = {
    int(number): name for number, _, name in (entry.strip().partition(" ") for entry in _SERVICES.split(","))
}


def bad_port(url: str) -> str | None:
    """Return why the port of a canonical URL is never used, or None if it may be."""
    authority = url[url.index("//") + 2 : url.index("/", 8)]
    _, colon, port = authority.rpartition(":")
    # In an IPv6 address without a port the text behind the last colon ends with a bracket.
    service = BAD_PORTS.get(int(port)) if colon and port.isdigit() else None
    return None if service is None else f"port {port} is for {service}, and no browser fetches from it"


def with_good_port(url: str) -> str:
    """Return a canonical URL unchanged; raise UrlError if its port is one of another protocol."""
    if (reason := bad_port(url)) is not None:
        raise UrlError(f"{url[: url.index('/', 8)]}: {reason}; give the port of a web server")
    return url
