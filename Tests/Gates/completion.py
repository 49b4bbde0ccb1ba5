"""Get the completions of a command line from bash, fish and zsh.

The completion scripts call the program `assay`, found through PATH as in an installation; `program`
is its path.
"""
import os
import pathlib
import shutil
import subprocess
import tempfile

BASH = r"""
source "$1"
line=$2
COMP_LINE=$line; COMP_POINT=${#line}
read -ra COMP_WORDS <<<"$line"
[[ $line == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
COMPREPLY=()
[[ $(complete -p assay) == *'-F _assay assay' ]] || exit 3
_assay assay "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
"""
FISH = "source $argv[1]; complete -C $argv[2]"
# A shell with a pseudo-terminal, which receives a tab as if a person had pressed the key.
ZSH = r"""
zmodload zsh/zpty
zpty inner zsh -f -i
zpty -w inner "fpath=(${1:h} \$fpath); autoload -Uz compinit; compinit -D -u; print set''tled"
zpty -r -m inner out '*settled*'
zpty -w -n inner "$2"$'\t'
zpty -r -m inner out "*$3*"
print -r -- "$out"
zpty -d inner
"""


def ask(command, program, folder=None):
    path = f"{program.parent}:{os.environ.get('PATH', '/usr/bin:/bin')}"
    result = subprocess.run(command, text=True, capture_output=True, errors="replace",
                            stdin=subprocess.DEVNULL, timeout=60, cwd=folder,
                            env={**os.environ, "PATH": path})
    return result.stdout


def bash(script, line, program, folder=None):
    """Return the words that bash offers for a line."""
    return ask(["bash", "--norc", "-c", BASH, "bash", str(script), line], program,
               folder).split()


def fish(script, line, program, folder=None):
    offered = ask(["fish", "--no-config", "-c", FISH, str(script), line], program, folder)
    return [word.split("\t")[0] for word in offered.splitlines()]


def zsh_completes(script, line, wanted, program, folder=None):
    """Return whether the tab key makes zsh insert `wanted`."""
    with tempfile.TemporaryDirectory() as name:
        copy = pathlib.Path(name) / "_assay"
        shutil.copy(script, copy)
        try:
            return wanted in ask(["zsh", "-f", "-c", ZSH, "zsh", str(copy), line, wanted],
                                 program, folder)
        except subprocess.TimeoutExpired:
            return False
