# Completion for bash. The program computes the completions, because it can ask the bus.

_diligence() {
    local program=${1/#\~\//$HOME/} kind word
    COMPREPLY=()
    while IFS=$'\t' read -r kind word; do
        case $kind in
            whole) COMPREPLY+=("$word") ;;
            part) COMPREPLY+=("$word"); compopt -o nospace ;;
            files) compopt -o default ;;
            directories) compopt -o dirnames ;;
            command) _diligence_command "$word" ;;
        esac
    done < <("$program" complete bash -- "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2> /dev/null)
}

# Completes the command line of another program, which begins at the character $1.
_diligence_command() {
    local rest=$COMP_LINE first
    for ((first = 0; first < COMP_CWORD && ${#COMP_LINE} - ${#rest} < $1; first++)); do
        rest=${rest#*"${COMP_WORDS[first]}"}
        rest=${rest#"${rest%%[![:space:]]*}"}
    done
    if declare -F _comp_command_offset > /dev/null; then
        _comp_command_offset "$first"
    elif declare -F _command_offset > /dev/null; then
        _command_offset "$first"
    elif ((first == COMP_CWORD)); then
        mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
    else
        compopt -o default
    fi
}

complete -F _diligence diligence
