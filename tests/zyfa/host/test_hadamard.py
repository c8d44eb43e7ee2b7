import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install tracekit[zyfa]")

from zyfa.host.hadamard import blocks, hadamard_rotate, transform  # noqa: E402


def sylvester(n):
    h = torch.ones(1, 1, dtype=torch.float64)
    while len(h) < n:
        h = torch.cat([torch.cat([h, h], 1), torch.cat([h, -h], 1)])
    return h


@pytest.mark.parametrize("n", [2, 64, 128])
def test_transform_is_the_sylvester_matrix(n):
    x = torch.randn(5, n, generator=torch.Generator().manual_seed(0))
    expected = x.double() @ sylvester(n) / n**0.5
    assert torch.allclose(transform(x).double(), expected, atol=1e-5)


@pytest.mark.parametrize("dim", [128, 192, 96])
def test_scores_do_not_change(dim):
    g = torch.Generator().manual_seed(0)
    q, k = torch.randn(2, 7, 3, dim, generator=g), torch.randn(2, 7, 3, dim, generator=g)
    qr, kr = hadamard_rotate(q, k)
    assert torch.allclose((qr * kr).sum(-1), (q * k).sum(-1), atol=1e-3)
    assert not torch.allclose(qr, q)


def test_an_outlier_is_spread():
    x = torch.zeros(1, 128)
    x[0, 5] = 100.0
    rotated, _ = hadamard_rotate(x, x)
    assert torch.allclose(rotated.abs(), torch.full((1, 128), 100 / 128**0.5), atol=1e-4)


def test_dtype_is_kept():
    x = torch.randn(2, 128).bfloat16()
    assert hadamard_rotate(x, x)[0].dtype == torch.bfloat16


def test_blocks_are_powers_of_two():
    assert blocks(192) == [128, 64]
    assert blocks(128) == [128]


def test_different_dimensions_are_refused():
    with pytest.raises(ValueError, match="128 and 64"):
        hadamard_rotate(torch.zeros(1, 128), torch.zeros(1, 64))
