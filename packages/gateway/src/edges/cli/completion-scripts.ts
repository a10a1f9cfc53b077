export type Shell = 'bash' | 'zsh' | 'fish';

/**
 * Each script asks `assay complete -- WORDS` for the candidates of the last word: one per line, with a description after a
 * tab, then a directive. Words and candidates are data of others (names of servers and tools), so no script may let its
 * shell expand them: no `eval`, no `compgen -W`, no unquoted variable.
 */
export const COMPLETION_SCRIPTS: Readonly<Record<Shell, string>> = {
  // Bash also splits words at the characters of COMP_WORDBREAKS. A candidate replaces what follows the last of them in the
  // word, so the part `before` it is removed. Quotes are not interpreted. Bash 3 has no `compopt`.
  bash: String.raw`# bash completion for assay
_assay() {
  local -a words
  local line="\${COMP_LINE:0:COMP_POINT}" last before="" mark candidate
  read -ra words <<< "$line"
  [[ "$line" == *[[:space:]] ]] && words+=("")
  last="\${words[\${#words[@]} - 1]}"
  for mark in : = @; do
    [[ "$COMP_WORDBREAKS" == *$mark* && "\${last#"$before"}" == *$mark* ]] && before="\${last%"\${last##*$mark}"}"
  done
  COMPREPLY=()
  while IFS=$'\t' read -r candidate _; do
    case "$candidate" in
      :0) compopt -o default 2> /dev/null ;;
      :*) ;;
      "$last"*) COMPREPLY+=("\${candidate#"$before"}") ;;
    esac
  done < <(assay complete -- "\${words[@]:1}" 2> /dev/null < /dev/null)
}
complete -F _assay assay`.replaceAll('\\${', '${'),

  zsh: String.raw`#compdef assay
_assay() {
  local -a names shown
  local name about
  while IFS=$'\t' read -r name about; do
    case "$name" in
      :0) _files ;;
      :*) ;;
      *) names+=("$name"); shown+=("$name\${about:+  -- $about}") ;;
    esac
  done < <(assay complete -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2> /dev/null < /dev/null)
  (( $#names )) && compadd -l -d shown -a -- names
}
if [[ "$funcstack[1]" == _assay ]]; then
  _assay
else
  compdef _assay assay
fi`.replaceAll('\\${', '${'),

  fish: String.raw`# fish completion for assay
function __assay_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l last (commandline -ct)
    for line in (assay complete -- $words "$last" 2> /dev/null < /dev/null)
        switch $line
            case ':0'
                __fish_complete_path "$last"
            case ':*'
            case '*'
                printf '%s\n' $line
        end
    end
end
complete -c assay -f -a '(__assay_complete)'`,
};
