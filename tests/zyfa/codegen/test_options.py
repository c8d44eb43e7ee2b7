import pytest

from zyfa.codegen.options import Options, all_options


def test_names_are_unique_and_parse_back():
    every = list(all_options())
    assert len({o.name for o in every}) == len(every) == 192
    assert all(Options.parse(o.name) == o for o in every)


def test_key_value_form():
    assert Options.parse("softmax=exact,schedule=gap,fma=packed") == Options(
        softmax="exact", schedule="gap", fma="packed"
    )
    assert Options.parse("") == Options()


@pytest.mark.parametrize("text", ["softmax=fast", "colour=red", "nonsense"])
def test_unknown_choices_list_the_known(text):
    with pytest.raises(ValueError, match="choose"):
        Options.parse(text)
