import pytest

from tracekit.errors import FormatError, TracekitError
from tracekit.gfx9 import ARCHS
from tracekit.isa import arch
from tracekit.isa.arch import ArchChoice


@pytest.mark.parametrize(
    ("e_flags", "name"),
    [(0x54F, "gfx950"), (0x54C, "gfx942"), (0x33F, "gfx90a"), (0x41, None), (0x5F, None)],
)
def test_elf_flags(e_flags, name):
    choice = arch.from_elf_flags(e_flags)
    assert (choice and choice.name) == name


@pytest.mark.parametrize(
    ("version", "name"), [(90500, "gfx950"), (90402, "gfx942"), (90010, "gfx90a"), (110000, None)]
)
def test_target_version(version, name):
    choice = arch.from_target_version(version)
    assert (choice and choice.name) == name


@pytest.mark.parametrize(
    ("texts", "name"),
    [
        (["v_mfma_f32_32x32x16_bf16 a[0:15], v[0:3], v[4:7], a[0:15]"], "gfx950"),
        (["s_nop 0", "v_permlane32_swap_b32_e32 v0, v1"], "gfx950"),
        (["v_mfma_f32_16x16x8_xf32 v[0:3], v[4:5], v[6:7], v[0:3]"], "gfx942"),
        (["v_mfma_f32_32x32x8f16 a[0:15], v[0:1], v[2:3], a[0:15]"], "gfx90a"),
        (["v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]"], None),
        (["v_mfma_f32_32x32x8f16 a[0:15]", "v_bitop3_b32 v0, v1, v2, v3"], None),
        ([], None),
    ],
)
def test_opcodes(texts, name):
    choice = arch.from_opcodes(texts)
    assert (choice and choice.name) == name


@pytest.mark.slow
def test_opcodes_of_one_architecture_are_in_no_other(opcodes):
    for name in ARCHS:
        for opcode in opcodes(name):
            choice = arch.from_opcodes([opcode])
            assert choice is None or choice.name == name, opcode


HEADER = '"Node_Id","Agent_Type","Gfx_Target_Version","Gpu_Id","Name"\n'
CPU = '0,"CPU",0,0,"AMD EPYC"\n'


def table(tmp_path, *rows):
    path = tmp_path / "1_agent_info.csv"
    path.write_text(HEADER + CPU + "".join(row + "\n" for row in rows))
    return path


MI300 = '1,"GPU",90402,500,"gfx942"'
MI350 = '2,"GPU",90500,600,"gfx950"'


@pytest.mark.parametrize(
    ("rows", "agent", "name", "source"),
    [
        ([MI300, MI350], 600, "gfx950", "1_agent_info.csv, agent 600"),
        ([MI300, MI350], 1, "gfx942", "1_agent_info.csv, agent 1"),
        ([MI350], 32617, "gfx950", "1_agent_info.csv, its GPU"),
        ([MI350, MI350], 32617, "gfx950", "1_agent_info.csv, all 2 GPUs"),
        (['3,"GPU",,7,"gfx90a"'], None, "gfx90a", "1_agent_info.csv, its GPU"),
    ],
)
def test_agent_info(tmp_path, rows, agent, name, source):
    assert arch.from_agent_info(table(tmp_path, *rows), agent) == ArchChoice(name, source)


def test_agent_info_without_a_clear_answer(tmp_path):
    assert arch.from_agent_info(table(tmp_path, MI300, MI350), 32617) is None
    assert arch.from_agent_info(table(tmp_path), 1) is None
    empty = tmp_path / "2_agent_info.csv"
    empty.write_bytes(b"\x00\xff\n")
    assert arch.from_agent_info(empty, 1) is None


def test_agent_of_another_family_is_refused(tmp_path):
    with pytest.raises(FormatError, match="gfx1100"):
        arch.from_agent_info(table(tmp_path, '1,"GPU",110000,5,"gfx1100"'), 5)


def test_agent_info_of_captures(captures):
    paths = sorted(captures.glob("*/att/*_agent_info.csv"))
    assert len(paths) == 3
    assert {arch.from_agent_info(path, 32617).name for path in paths} == {"gfx950"}


def test_evidence_has_an_order():
    elf, agent = ArchChoice("gfx950", "code object"), ArchChoice("gfx942", "agents")
    opcodes = ArchChoice("gfx90a", "opcode x")
    assert arch.choose(elf=elf, agent=agent, meta="gfx90a").source == "code object"
    assert arch.choose(agent=agent, meta="gfx90a") == agent
    assert arch.choose(meta="gfx90a", opcodes=opcodes) == ArchChoice("gfx90a", "meta.json")
    assert arch.choose(opcodes=opcodes) == opcodes
    assert arch.choose(opcodes=opcodes, override="gfx90a") == opcodes
    assert arch.choose(override="gfx950") == ArchChoice("gfx950", "--arch")


def test_a_contradicted_override_is_said_to_be_ignored():
    choice = arch.choose(elf=ArchChoice("gfx950", "code object"), override="gfx942")
    assert str(choice) == "gfx950 (code object; --arch gfx942 ignored)"


def test_an_assumption_is_said_to_be_one():
    choice = arch.choose()
    assert (choice.name, choice.assumed) == ("gfx942", True)
    assert "assumed" in str(choice)


def test_unsupported_names_are_refused():
    with pytest.raises(TracekitError, match=r"meta\.json: gfx1100"):
        arch.choose(meta="gfx1100")
    with pytest.raises(TracekitError, match="--arch: mi300"):
        arch.choose(override="mi300")
