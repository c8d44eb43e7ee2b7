"""Facts of the profiler's own tables; odd ones are passed over."""

import json

import pytest

from tracekit.capture.kernels import from_results_json

RESULTS = {
    "rocprofiler-sdk-tool": [
        {
            "code_objects": [{"code_object_id": 1, "load_delta": 4096}],
            "agents": [{"gfx_target_version": 90500}],
            "kernel_symbols": [{"kernel_id": 3, "kernel_name": "k"}],
            "buffer_records": {
                "kernel_dispatch": [{"dispatch_info": {"dispatch_id": 7, "kernel_id": 3}}]
            },
        }
    ]
}


def test_results_json(tmp_path):
    path = tmp_path / "results.json"
    path.write_text(json.dumps(RESULTS))
    facts = from_results_json(path)
    assert facts.kernels == {7: "k"}
    assert facts.load_bases == {1: 4096}
    assert facts.target_versions == {90500}


@pytest.mark.parametrize("odd", [[3], {}, None, "3"])
def test_ids_of_another_type_are_passed_over(tmp_path, odd):
    """Found by fuzzing: a list as kernel id."""
    text = json.dumps(RESULTS)
    for at in ("kernel_symbols", "kernel_dispatch"):
        head, separator, tail = text.partition(at)
        changed = tail.replace('"kernel_id": 3', f'"kernel_id": {json.dumps(odd)}', 1)
        path = tmp_path / "results.json"
        path.write_text(head + separator + changed)
        assert from_results_json(path).kernels == {}
