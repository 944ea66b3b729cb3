#!/usr/bin/env python3
"""Derives fields.txt: the fields of common kinds that are numbers or booleans, as a graph of types.

The input are the JSON schemas inside the PyPI package kubernetes-validate:

    pip download kubernetes-validate --no-deps && unzip kubernetes_validate-*.whl
    python3 derive.py kubernetes_validate/kubernetes-json-schema/v1.37.0-local > fields.txt

The schemas do not belong to this project; what is derived from them does. OpenShift's kinds stand in openshift.txt,
written by hand after their documentation, in the same form. Integers that may also be strings are left out.
"""

import json
import pathlib
import sys

GROUPS = {
    "": "core", "apps": "apps", "batch": "batch", "autoscaling": "autoscaling", "policy": "policy",
    "networking.k8s.io": "networking", "storage.k8s.io": "storage", "scheduling.k8s.io": "scheduling",
}
SCALARS = {"integer": "int", "number": "number", "boolean": "bool"}
# What the cluster writes is in no template.
SKIPPED = {"status", "managedFields"}


def main(folder):
    definitions = json.loads((folder / "_definitions.json").read_text())
    definitions = definitions.get("$defs") or definitions["definitions"]
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
            return name if visit(name) else None
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
    print("# Derived by derive.py from the Kubernetes JSON schemas of kubernetes-validate; not to be edited.")
    for (group, kind), name in roots.items():
        print(f"kind {group or 'core'} {kind} {short(name)}")
    for name in sorted(reached, key=short):
        if types[name]:
            print(f"type {short(name)}")
            for field, it in types[name].items():
                print(f"  {field} {shown(it)}")


main(pathlib.Path(sys.argv[1]))
