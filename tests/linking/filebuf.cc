// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The Fast-STREAMS authors

// The C++ library's streams of characters on STREAMS.
#include <ext/stdio_filebuf.h>
#include <fcntl.h>
#include <iostream>
#include <string.h>
#include <string>
#include <unistd.h>

extern "C" {
#include "ends.h"
}

static int
fails(const char *why)
{
	std::cout << "# " << why << ": " << strerror(errno) << std::endl;
	return 1;
}

static int
talk(const char *what)
{
	const int lines = 20000;
	int fd[2], n = 0;
	std::string line;

	ends_open(what, fd);
	pid_t pid = fork();
	if (pid == 0) {
		close(fd[0]);
		__gnu_cxx::stdio_filebuf<char> buf(fd[1], std::ios::out);
		std::ostream out(&buf);
		for (int i = 0; i < lines; i++)
			out << "line " << i << '\n';
		out.flush();
		_exit(out.good() ? 0 : 1);
	}
	close(fd[1]);
	__gnu_cxx::stdio_filebuf<char> buf(fd[0], std::ios::in);
	std::istream in(&buf);
	while (n < lines && std::getline(in, line)) {
		if (line != "line " + std::to_string(n))
			return fails("another line than was written");
		n++;
	}
	return n == lines ? 0 : fails("too few lines");
}

int
main()
{
	static const char *const ends[] = {ENDS_ALL};
	int n = 0, bad = 0;

	std::cout << "1.." << sizeof ends / sizeof *ends << std::endl;
	for (const char *what : ends) {
		int wrong = talk(what);

		bad += wrong;
		std::cout << (wrong ? "not ok " : "ok ") << ++n
			  << " - a filebuf on " << what << std::endl;
	}
	return bad != 0;
}
