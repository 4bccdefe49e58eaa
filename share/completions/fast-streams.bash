# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
#
# bash completion for the tools.  Each has --help in one form, and what follows
# "=" there says what an option takes; so no list of options is kept here.

# What an operand or the argument of an option can be, by its name in --help.
_fast_streams_values() {
	case $1 in
	*MODULE*|NAME|DRIVER)
		scls --long 2>/dev/null | awk '/^[^ ]/ { print $1 }' ;;
	WIRE)
		strwire list 2>/dev/null | awk '/^[^ ]/ { print $1 }' ;;
	esac
}

_fast_streams() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local help takes words IFS=$' \t\n'

	help=$("${COMP_WORDS[0]}" --help 2>/dev/null) || return 0
	if [[ $prev == = ]]; then	# --name=, which bash takes apart
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	elif [[ $cur == = ]]; then
		cur=
	fi
	takes=
	if [[ $prev == -* ]]; then
		takes=$(awk -v o="$prev" '$1 == o "," || index($0, " " o "=") {
			if (match($0, /--[a-z-]+=[A-Z,.\/]+/)) {
				s = substr($0, RSTART, RLENGTH)
				print substr(s, index(s, "=") + 1)
				exit
			}
		}' <<<"$help")
	fi
	if [[ -z $takes && $cur == -* ]]; then
		words=$(grep -oE -- '^ +(-[^ ,]+, +)*--[a-z-]+=?' <<<"$help" |
		    grep -oE -- '--[a-z-]+=?')
		COMPREPLY=($(compgen -W "$words" -- "$cur"))
		[[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
		return 0
	fi
	if [[ -z $takes ]]; then
		takes=$(sed -n '1s/^usage:.*[[ ]\([A-Z]\{1,\}\)[] .]*$/\1/p' <<<"$help")
	fi
	COMPREPLY=($(compgen -W "$(_fast_streams_values "$takes")" -- "$cur"))
	return 0
}

complete -o default -F _fast_streams autopush fattach fdetach scls strchg \
	strclean strconf strerr strinfo strinsert strlog strreset strrun strsetup \
	str-strace strtap strtop strtune strwire
