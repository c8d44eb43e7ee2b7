import pytest

from zyfa.shape import D128, Shape


def test_the_counts_of_the_kernel_that_is_there():
    assert (D128.key_tiles, D128.value_tiles) == (4, 4)
    assert (D128.qk_steps, D128.pv_steps) == (2, 2)
    assert (D128.waves, D128.threads) == (8, 512)
    assert D128.name == "d128"


def test_head_dimensions_of_scores_and_values_count_apart():
    wide = Shape(256, 128)
    assert (wide.qk_steps, wide.value_tiles) == (4, 4)
    assert wide.name == "d256_128"


@pytest.mark.parametrize(
    ("sizes", "named"),
    [((64, 128), "d_qk=64"), ((128, 0), "d_v=0"), ((128, 192), "d_v=192"),
     ((128, 128, 64), "keys=64"), ((128, 128, 128, 160), "rows=160")],
)  # fmt: skip
def test_sizes_without_an_operand_layout_are_refused_by_name(sizes, named):
    with pytest.raises(ValueError, match=named):
        Shape(*sizes)
