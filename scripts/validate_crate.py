"""Runs roc-validator. If the JSON-LD context of RO-Crate 1.2 cannot be fetched, uses that of 1.3 from the package rocrate and prints a
note. `scripts/research-object --validate` calls this script.
"""

import importlib.resources
import io
import json
import sys
import types
import urllib.request
from email.message import Message
from urllib.response import addinfourl

import rdflib._networking
import rdflib.parser
from rocrate_validator.cli import cli
from rocrate_validator.utils.http import HttpRequester

LOCAL = (importlib.resources.files("rocrate") / "data/ro-crate.jsonld").read_bytes()
TYPE = "application/ld+json"


def stands_in(address):
    """Uses the local context instead, with a note, if the address cannot be fetched."""
    if "w3id.org/ro/crate/1.2" not in address:
        return False
    print(f"cannot fetch {address}; using the context of RO-Crate 1.3 instead", file=sys.stderr)
    return True


def opened(request, *rest, fetch=urllib.request.urlopen, **named):
    address = request if isinstance(request, str) else request.full_url
    try:
        return fetch(request, *rest, **named)
    except OSError:
        if not stands_in(address):
            raise
        headers = Message()
        headers["Content-Type"] = TYPE
        return addinfourl(io.BytesIO(LOCAL), headers, address, 200)


def got(self, address, *rest, **named):
    try:
        return self.__getattr__("get")(address, *rest, **named)
    except Exception:
        if not stands_in(address):
            raise
        return types.SimpleNamespace(
            status_code=200, ok=True, url=address, headers={"Content-Type": TYPE}, content=LOCAL, text=LOCAL.decode(),
            json=lambda: json.loads(LOCAL), raise_for_status=lambda: None,
        )


for module in [urllib.request, rdflib.parser, rdflib._networking]:
    if hasattr(module, "urlopen"):
        module.urlopen = opened
HttpRequester.get = got
cli(sys.argv[1:])
