"""The main program of a process in which pywb replays pages: its arguments are an index, a folder, and URLs.

pywb replaces parts of the standard library (gevent) and its packages replace our brotli, so it runs in an
environment of its own. A line of JSON per URL goes to standard output: status, time and body of the answer.
"""

import json
import sys

from pywb.apps.frontendapp import FrontEndApp
from werkzeug.test import Client

if __name__ == "__main__":
    index, folder, *asked = sys.argv[1:]
    collection = {"index_paths": index, "archive_paths": folder}
    client = Client(FrontEndApp(config_file=None, custom_config={"collections": {"crawl": collection}}))
    for one in asked:
        moment, url = one.split(" ")
        answer = client.get(f"/crawl/{moment}id_/{url}")
        told = {"status": answer.status_code, "time": answer.headers.get("Memento-Datetime")}
        sys.stdout.write(json.dumps({**told, "body": answer.get_data(as_text=True)}) + "\n")
