# Completion for fish. The program computes the completions, because it can ask the bus.

function __diligence_complete
    set -l words (commandline --tokenize --cut-at-cursor --current-process)
    set -l current (commandline --cut-at-cursor --current-token)
    set -l program (string replace --regex '^~/' "$HOME/" -- $words[1])
    set -e words[1]
    $program complete fish -- $words "$current" 2>/dev/null | while read --delimiter \t --local kind word about
        switch $kind
            case whole part
                printf '%s\t%s\n' $word $about
            case files directories
                # Keep the option of --output=FILE.
                set -l option (string match --regex -- '^--[^=]*=' $current)
                set -l found (__fish_complete_path (string replace -- "$option" '' $current))
                test $kind = directories; and set found (string match --regex -- '.*/(?:\t.*)?$' $found)
                printf '%s\n' "$option"$found
            case command
                # The command line of another program begins at this word.
                set -e words[1..$word]
                complete --do-complete (string join ' ' -- (string escape -- $words) $current)
        end
    end
end

complete --command diligence --no-files --keep-order --arguments '(__diligence_complete)'
