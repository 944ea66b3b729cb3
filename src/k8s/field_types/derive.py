#!/usr/bin/env python3
"""Derives fields.txt: the fields of common kinds that are strings, numbers or booleans, as a graph of types.

The input are the OpenAPI documents of a release in the repository kubernetes/kubernetes:

    python3 derive.py api/openapi-spec/v3 > fields.txt

The documents do not belong to this project; what is derived from them does. OpenShift's kinds are in openshift.txt,
written by hand after their documentation, in the same form. Fields that take a string or a number are left out.
"""

import json
import pathlib
import sys

GROUPS = {
    "": "core", "apps": "apps", "batch": "batch", "autoscaling": "autoscaling", "policy": "policy",
    "networking.k8s.io": "networking", "storage.k8s.io": "storage", "scheduling.k8s.io": "scheduling",
}
SCALARS = {"string": "string", "integer": "int", "number": "number", "boolean": "bool"}
# Scalars with their own decoder: some take a string or a number.
OWN_DECODER = ("resource.Quantity", "intstr.IntOrString", "meta.v1.Time", "meta.v1.MicroTime")
# What the cluster writes is in no template.
SKIPPED = {"status", "managedFields"}


def main(folder):
    definitions = {}
    for group in GROUPS:
        for path in sorted(folder.glob(f"apis__{group}__v?_openapi.json" if group else "api__v1_openapi.json")):
            definitions |= json.loads(path.read_text())["components"]["schemas"]
    kinds = {}
    for name, schema in definitions.items():
        for it in schema.get("x-kubernetes-group-version-kind", []):
            stable = it["version"] in ("v1", "v2")
            if it["group"] in GROUPS and stable and not it["kind"].endswith("List"):
                known = kinds.get((it["group"], it["kind"]))
                if name.startswith("io.k8s.api.") and (known is None or it["version"] > known[0]):
                    kinds[it["group"], it["kind"]] = (it["version"], name)
    types = {}

    def target(schema):
        """What a field is: a scalar, a type by name, or nothing of interest."""
        reference = schema.get("$ref") or next((it["$ref"] for it in schema.get("allOf", []) if "$ref" in it), None)
        if reference:
            name = reference.rsplit("/", 1)[1]
            return name if not name.endswith(OWN_DECODER) and visit(name) else None
        kind = schema.get("type")
        kind = [it for it in (kind if isinstance(kind, list) else [kind]) if it not in (None, "null")]
        if len(kind) != 1 or schema.get("format") == "int-or-string":
            return None
        if kind[0] == "array":
            inner = target(schema.get("items", {}))
            return inner and "[]" + inner
        if kind[0] == "object" and isinstance(schema.get("additionalProperties"), dict):
            inner = target(schema["additionalProperties"])
            return inner and "{}" + inner
        return SCALARS.get(kind[0])

    def visit(name):
        """Whether a type has fields of interest. A type that holds itself is worth what its other fields are."""
        if name in types:
            return bool(types[name])
        types[name] = {}
        fields = definitions[name].get("properties", {})
        found = {field: target(schema) for field, schema in fields.items() if field not in SKIPPED}
        types[name] = {field: it for field, it in sorted(found.items()) if it}
        return bool(types[name])

    roots = {key: name for key, (_, name) in sorted(kinds.items()) if visit(name)}
    short = lambda name: name.replace("io.k8s.apimachinery.pkg.apis.", "").replace("io.k8s.api.", "").replace("io.k8s.", "")

    def shown(it):
        for prefix in ("[]", "{}"):
            if it.startswith(prefix):
                return prefix + shown(it[2:])
        return it if it in SCALARS.values() else short(it)

    reached, ahead = set(), list(roots.values())
    while ahead:
        name = ahead.pop()
        if name not in reached and name in types:
            reached.add(name)
            ahead.extend(it.lstrip("[]{}") for it in types[name].values())
    print("# Derived by derive.py from the OpenAPI documents of Kubernetes 1.37; not to be edited.")
    for (group, kind), name in roots.items():
        print(f"kind {group or 'core'} {kind} {short(name)}")
    for name in sorted(reached, key=short):
        if types[name]:
            print(f"type {short(name)}")
            for field, it in types[name].items():
                print(f"  {field} {shown(it)}")


main(pathlib.Path(sys.argv[1]))
