"""Kernel names for people."""

import pytest

from tracekit.analysis.model.kernels import demangled, short_name


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("_gemm_afp4_wfp4_kernel", "_gemm_afp4_wfp4_kernel"),
        ("void at::native::fill<4, at::Functor<float>, std::array<char*, 1ul>>(int, char*)",
         "at::native::fill<…>"),
        ("void (anonymous namespace)::f<int>(int) [clone .kd]", "(anonymous namespace)::f<…>"),
        ("ck::kernel<1>::run<2>(int)", "ck::kernel<…>::run<…>"),
        ("gemm.kd", "gemm"),
        ("1 / 0x1700", "1 / 0x1700"),
        ("_Znonsense", "_Znonsense"),
        ("a < b", "a < b"),
        ("", ""),
    ],
)  # fmt: skip
def test_arguments_and_templates_are_left_out(name, short):
    assert short_name(name) == short


def test_a_mangled_name_is_read_where_the_runtime_can():
    mangled = "_ZN2ck11kernel_gemmINS_8GridwiseILi256ELb1EEEEEvT_.kd"
    if demangled(mangled) == mangled:
        pytest.skip("no libstdc++ to demangle with")
    assert short_name(mangled) == "ck::kernel_gemm<…>"
