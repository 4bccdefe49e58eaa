#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Every rule passes a small clean tree and fails the same tree with one wrong
file.

usage: self_test.py
"""

import os
import shlex
import subprocess
import sys
import tempfile

import header_rules
import man_rules
import object_rules
import ratchet_rules
import source_rules
import style_rules
from lintlib import RULES, Skip, Tree

assert (header_rules and man_rules and object_rules and ratchet_rules and
        source_rules and style_rules)

C = ('/* SPDX-License-Identifier: BSD-2-Clause */\n'
     '/* Copyright (c) 2026 The Fast-STREAMS authors */\n')
PAGE = C.replace('/*', '.\\"').replace(' */', '') + '''\
.Dd January 1, 2026
.Dt NULLMOD 7
.Os
.Sh NAME
.Nm nullmod
.Nd the module that changes nothing
.Sh DESCRIPTION
It forwards.
'''


def page(name, section):
    """A page of a function."""
    return PAGE.replace('NULLMOD 7', f'{name.upper()} {section}').replace(
        'nullmod', name)


# A message block's allocator that calls the Stream head.
CALLS_UP = '''
extern void *str_head_read(void);
void *ddi_allocb(void);
void *ddi_allocb(void) { return str_head_read(); }
'''

CLEAN = {
    'include/stropts.h': C + '#include <stddef.h>\nextern size_t n;\n',
    'include/str/annot.h': C + '#define A __attribute__((unused))\n',
    'core/msg/alloc.c': C + '''
/* We do not malloc(); pthread_mutex_lock() is not for us. */
extern void *host_alloc(unsigned long n);
extern void *memcpy(void *d, const void *s, unsigned long n);
void *ddi_allocb(void);
void *ddi_allocb(void) { return memcpy(host_alloc(1), "free(x)", 1); }
''',
    'core/head/read.c': C + '''
extern void *ddi_allocb(void);
void *str_head_read(void);
void *str_head_read(void) { return ddi_allocb(); }
''',
    'mod/nullmod.c': C + '''
extern int ddi_putnext(void);
extern unsigned long strlen(const char *s);
int nullmod_put(void);
int nullmod_put(void) { return ddi_putnext() + (int)strlen("XX"); }
int (*const nullmod_tab[])(void) = { nullmod_put, ddi_putnext };
''',
    'drv/log.c': C + 'int ddi_putq(void);\nint log(void);\n'
                     'int log(void) { return ddi_putq(); }\n',
    'lib/streams/libstreams.map':
        C + 'S_1 {\nglobal:\n\tputmsg;\n\tddi_*;\nlocal:\n\t*;\n};\n',
    'lib/streams/putmsg.c': C + 'int putmsg(void);\nint ddi_x(void);\n'
                                'int putmsg(void) { return 0; }\n'
                                'int ddi_x(void) { return 0; }\n',
    'lib/streams/libstreams.base.map': C + '{ global: putmsg; };\n',
    'tests/conformance/posix/pointers.c': C + 'int b;\n',
    'host/user/here.c': C + '#ifdef __linux__\n#endif\n',
    'tests/a.c': C + 'int a;\n',
    'docs/man/man7/nullmod.7': PAGE,
    'docs/man/man2/putmsg.2': page('putmsg', 2),
    'docs/man/man9/putq.9': page('putq', 9),
    'docs/man/man7/streams.7': page('streams', 7) +
        '.Bl -tag -width Ds\n.It Ev LD_PRELOAD\nx\n'
        '.It Ev STREAMS_HERE\n.Xr nullmod 7 ,\n.Xr putmsg 2 ,\n'
        '.Xr putq 9\n.El\n',
    'host/user/name.c': C + 'char *v = getenv("STREAMS_HERE");\n',
    'docs/locking.md': '| `[A]` | atomic |\n',
    'docs/ip-conformance.md': '| 1.1 | MUST: x | `tests/b_test.c:it_is` |\n'
                              '| 1.2 | MUST: y | not held: why |\n',
    'docs/sctp-conformance.md':
        '| 1.1 | MUST: x | `tests/sctp/scripts/one` |\n',
    'tests/sctp/scripts/one': C,
    'tests/b_test.c': C + 'T_CASE(it_is)\n',
    'core/msg/alloc.h': C + 'struct m {\n\tint n; /* [A] of uses */\n};\n',
    'README.md': 'It passes 2 times as many.\n<!-- results:begin -->\n'
                 'It passes **1.6** times as many.\n',
    'STYLE.md': '| `mod/`, `drv/` | `include/sys`, `builtin.h` |\n'
                '`str_head_read`, `core/msg/alloc.c`, `str_<verb>`\n',
    'include/str/builtin.h': C + 'int builtin;\n',
    'include/str/host.h': C + 'int host_wait(void);\n',
    'docs/host-porting.md': '| wait | `host_wa*` | it ends |\n',
    'drv/nuls.h': C + '#include <str/builtin.h>\n',
    'include/sys/stream.h':
        C + '#define STR_DDI(x) x\nint STR_DDI(putq)(void);\n',
}

# Rule, the file that breaks it, what it has to say.
BAD = [
    ('one_host', 'core/x.c', '#if defined(__linux__)\n#endif\n', 'core/x.c:3'),
    ('one_host', 'lib/x.h', '#  ifdef __KERNEL__\n#endif\n', 'lib/x.h:3'),
    ('one_thread_library', 'core/x.c', 'pthread_t id;\n', 'core/x.c:3'),
    ('attributes_have_names', 'core/x.c',
     'int x __attribute__((unused));\n', 'core/x.c:3'),
    ('attributes_have_names', 'include/str/x.h',
     'extern int x __attribute__((unused));\n', 'include/str/x.h:3'),
    ('core_has_no_malloc', 'core/x.c', 'x = malloc (3);\n', 'core/x.c:3'),
    ('core_has_no_malloc', 'mod/x.c', '\tfree(x);\n', 'mod/x.c:3'),
    ('statements_have_tests', 'docs/ip-conformance.md',
     '| 1.1 | MUST: x | `tests/b_test.c:it_is_not` |\n', 'does not exist'),
    ('statements_have_tests', 'docs/sctp-conformance.md',
     '| 1.1 | MUST: x | `tests/sctp/scripts/no` |\n', 'does not exist'),
    ('statements_have_tests', 'docs/ip-conformance.md',
     '| 1.1 | MUST: x | |\n', 'no test and no reason'),
    ('tests_do_not_sleep', 'tests/x.c', '\tusleep(3);\n', 'tests/x.c:3'),
    ('tests_do_not_sleep', 'core/x_test.c', 'sleep(1);\n', 'core/x_test.c:3'),
    ('nothing_unfinished', 'core/x.c', '/* TO' 'DO: all */\n', 'core/x.c:3'),
    ('nothing_unfinished', 'scripts/x.py', '# XX' 'X: all\n', 'x.py:3'),
    ('no_private_paths', 'README.md', 'cd /wo' 'rk/main\n', 'README.md:3'),
    ('licence_is_stated', 'core/y.c', None, 'core/y.c: no SPDX'),
    ('core_is_host_neutral', 'core/x.c',
     'int usleep(int);\nint x(void);\nint x(void) { return usleep(1); }\n',
     'refers to usleep'),
    ('core_is_host_neutral', 'core/y.c',
     'extern const int str_mod_z;\nint y(void);\n'
     'int y(void) { return str_mod_z; }\n', 'refers to str_mod_z'),
    ('modules_see_the_ddi', 'mod/x.c',
     'int str_queue_run(void);\nint x(void);\n'
     'int x(void) { return str_queue_run(); }\n', 'refers to str_queue_run'),
    ('modules_see_the_ddi', 'mod/x.c',
     'int host_now(void);\nint x(void);\nint x(void) { return host_now(); }\n',
     'refers to host_now'),
    ('drivers_see_the_ddi', 'drv/x.c',
     'int printf(const char *, ...);\nint x(void);\n'
     'int x(void) { return printf("%d", 1); }\n', 'refers to printf'),
    ('modules_have_no_state', 'mod/x.c',
     'int x(void);\nint x(void) { static int n; return n++; }\n', 'in .bss'),
    ('modules_have_no_state', 'mod/x.c', 'int table[2] = { 1 };\n',
     'table in .data'),
    ('core_has_no_state', 'core/x.c', '__thread int me = 1;\n',
     'me in .tdata'),
    ('exports_are_the_map', 'lib/streams/libstreams.map',
     'S_1 { global: putmsg; ddi_*; getmsg; local: *; };\n',
     'getmsg is not in the library'),
    ('exports_are_the_map', 'lib/streams/libstreams.map',
     'S_1 { global: putmsg; local: *; };\n', 'ddi_x is exported'),
    ('pointers_are_tried', 'lib/streams/putmsg.c',
     'int putmsg(const void *p);\nint ddi_x(void);\n'
     'int putmsg(const void *p)\n{ return p != 0; }\n'
     'int ddi_x(void) { return 0; }\n', 'putmsg takes a pointer'),
    ('pointers_are_tried', 'tests/conformance/posix/pointers.c',
     '#define F(nr, fn) 0\nint b[] = { F(SYS_read, read) };\n',
     'read is not in'),
    ('riddles_in_comments', 'core/x.c', '/* Nobody waits. */\n',
     'riddles_in_comments: 1, at most 0'),
    ('riddles_in_documents', 'docs/x.md', 'Who sleeps is woken.\n',
     'riddles_in_documents: 1, at most 0'),
    ('long_files', 'core/x.c', 'extern int x;\n' * 600,
     'long_files: 1, at most 0'),
    ('upward_calls', 'core/msg/alloc.c', CALLS_UP,
     'upward_calls: 1, at most 0'),
    ('mutual_folders', 'core/msg/alloc.c', CALLS_UP,
     'mutual_folders: 1, at most 0'),
    ('headers_stand_alone_in_c', 'include/x.h', 'extern size_t n;\n',
     'include/x.h: '),
    ('headers_stand_alone_in_c', 'include/x.h', 'enum { TWICE };\n',
     'include/x.h: '),
    ('headers_stand_alone_in_c', 'include/x.h', '#define MACROS_ONLY\n',
     'include/x.h: '),
    ('headers_stand_alone_in_cxx', 'include/x.h', 'extern int class;\n',
     'include/x.h: '),
    ('headers_stand_alone_in_old_dialects', 'include/x.h',
     '// A thing of C99.\n', 'include/x.h: '),
    ('private_headers_stand_alone', 'include/str/x.h', 'extern u_t n;\n',
     'include/str/x.h: '),
    ('installed_headers_are_public', 'include/x.h',
     '#include <str/annot.h>\n', 'include/x.h: '),
    ('examples_compile', 'README.md',
     '```c\n#include <stropts.h>\nint x(void) { return getmsg(); }\n```\n',
     'README.md: '),
    ('pages_are_clean', 'docs/man/man7/nullmod.7',
     PAGE.replace('.Sh DESCRIPTION', '.Sh'), 'nullmod.7:'),
    ('pages_are_where_they_say', 'docs/man/man3/nullmod.7', PAGE,
     'not in docs/man/man7'),
    ('pages_have_what_they_call_above', 'docs/man/man7/nullmod.7',
     PAGE + 'The endpoint is not in one of the states above.\n',
     'states above", but'),
    ('pages_have_what_they_call_above', 'docs/man/man7/nullmod.7',
     PAGE + 'A flag is not one of those above.\n', 'above", but'),
    ('defaults_are_named', 'docs/man/man1/nullmod.1',
     page('nullmod', 1) + 'The number of samples; 3.\n', 'the default?'),
    ('differences_begin_alike', 'docs/man/man7/nullmod.7',
     PAGE + 'In SVR4 it sleeps.\n', 'In SVR4 it'),
    ('exports_have_pages', 'lib/streams/libstreams.map',
     'S_1 { global: putmsg; getmsg; };\nS_PRIVATE { global: inspect; };\n',
     'getmsg: exported, without'),
    ('exports_have_pages', 'docs/man/man3/fattach.3', page('fattach', 3),
     'fattach is not exported'),
    ('ddi_has_pages', 'include/sys/ddi.h',
     'int STR_DDI(getq)(void);\n', 'getq: no page'),
    ('ddi_has_pages', 'docs/man/man9/getq.9', page('getq', 9),
     'getq is in no header'),
    ('streams_names_everything', 'host/user/x.c',
     'char *x = getenv("STREAMS_THERE");\n', 'STREAMS_THERE: read'),
    ('streams_names_everything', 'docs/man/man9/getq.9', page('getq', 9),
     'getq(9): not in streams(7)'),
    ('style_names_what_exists', 'STYLE.md', '`str_head_gone`\n',
     'str_head_gone is nowhere'),
    ('style_names_what_exists', 'STYLE.md', '`band_test.c`\n',
     'band_test.c: there is no such file'),
    ('style_names_what_exists', 'STYLE.md', '`core/none/`\n',
     'core/none/: there is no such folder'),
    ('drivers_include_what_style_says', 'drv/x.c', '#include <str/shm.h>\n',
     'drv/x.c: includes <str/shm.h>'),
    ('drivers_include_what_style_says', 'STYLE.md',
     '| `mod/`, `drv/` | `builtin.h`, `other.h` |\n',
     'other.h is included by no driver'),
    ('tags_have_one_legend', 'core/x.h', 'struct x { int n; /* [Z] */ };\n',
     'core/x.h: [Z]'),
    ('tags_have_one_legend', 'docs/locking.md',
     '| `[A]` | atomic |\n| `[B]` | none |\n', 'no field has [B]'),
    ('tags_have_one_legend', 'docs/x.md', 'see `[A]`\n', 'a second legend'),
    ('readme_begins_with_its_results', 'README.md',
     'It passes 3 times as many.\n<!-- results:begin -->\n'
     'It passes **1.6** times as many.\n', '3 times, and its table says 2'),
    ('host_functions_are_listed', 'include/str/host.h',
     'int host_wait(void);\nint host_leave(void);\n'
     'static inline void\nhost_x(void)\n{\n}\n',
     'host_leave is in no row'),
    ('host_functions_are_listed', 'docs/host-porting.md',
     '| wait | `host_wa* host_go` | it ends |\n', 'host_go is not in'),
]


def write_all(tree, bad):
    """Write the clean tree and one more file, or another one."""
    files = dict(CLEAN)
    if bad:
        name, text = bad
        if text is None:
            head, text = '', 'int y;\n'
        elif text.startswith('.\\"'):
            head = ''
        elif name.endswith('.py'):
            head = C.replace('/*', '#').replace(' */', '')
        else:
            head = C
        files[name] = head + text
    for name, text in files.items():
        path = tree.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)


def compile_all(tree):
    """Objects for core, mod and drv; a shared library for lib/streams."""
    cc = shlex.split(os.environ.get('CC', 'cc'))
    for name in tree.files('.c', under=('core/', 'mod/', 'drv/')):
        o = os.path.join(tree.build, name + '.o')
        os.makedirs(os.path.dirname(o), exist_ok=True)
        subprocess.run([*cc, '-w', '-O1', '-fPIC', '-ffreestanding',
                        '-fno-builtin', '-c', tree.path(name), '-o', o],
                       check=True)
    os.makedirs(os.path.join(tree.build, 'lib/streams'))
    source = tree.path('lib/streams/putmsg.c')
    # Without the map: a linker would hide what the rule is to find.
    subprocess.run([*cc, '-shared', '-fPIC', '-nostdlib', source, '-o',
                    os.path.join(tree.build, 'lib/streams/libstreams.so')],
                   check=True)


def judge(rule, bad, needs_objects):
    """What a rule says about the clean tree with one more file."""
    with tempfile.TemporaryDirectory(prefix='lint-') as d:
        tree = Tree(os.path.join(d, 'src'), os.path.join(d, 'obj'))
        os.makedirs(tree.root)
        write_all(tree, bad)
        if needs_objects:
            compile_all(tree)
        return rule(tree)


def main():
    failed = 0
    print(f'1..{len(RULES)}')
    for i, rule in enumerate(RULES, 1):
        objects = rule.__module__ in ('object_rules', 'ratchet_rules')
        rows = [b for b in BAD if b[0] == rule.__name__]
        wrong = [] if rows else ['no example breaks it']
        try:
            wrong += [f'clean tree: {w}' for w in judge(rule, None, objects)]
            for _, name, text, say in rows:
                said = judge(rule, (name, text), objects)
                if not any(say in s for s in said):
                    wrong.append(f'{name}: not found; it said {said}')
            skip = ''
        except Skip as e:
            skip = f' # SKIP {e}'
        print(f'{"not " if wrong else ""}ok {i} - {rule.__name__} can fail'
              f'{skip}')
        for w in wrong:
            print(f'# {w}')
        failed += bool(wrong)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
