/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The same in C++: an endpoint is an object, each caller a thread, and t_errno
 * each thread's own.  Every header is met from C++ on the way.
 */
#include <stropts.h>
#include <sys/stropts.h>
#include <strlog.h>
#include <sys/log.h>
#include <sys/sad.h>
#include <sys/stream.h>
#include <tihdr.h>
#include <timod.h>
#include <xti.h>
#include <xti_inet.h>
#include <netdir.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

class Endpoint {
public:
	explicit Endpoint(const char *device)
	    : fd(t_open(device, O_RDWR, nullptr))
	{
		if (fd < 0)
			throw std::runtime_error(t_strerror(t_errno));
	}
	~Endpoint() { t_close(fd); }
	Endpoint(const Endpoint &) = delete;
	Endpoint &operator=(const Endpoint &) = delete;

	const int fd;
};

struct Failure : std::runtime_error {
	explicit Failure(const char *what)
	    : std::runtime_error(std::string(what) + ": " +
		  t_strerror(t_errno)) {}
};

/* Its own put(), for all that <sys/stream.h> has. */
void
put(const Endpoint &e, const std::string &s)
{
	if (t_snd(e.fd, const_cast<char *>(s.data()),
	    static_cast<unsigned>(s.size()), 0) != static_cast<int>(s.size()))
		throw Failure("t_snd");
}

std::string
take(const Endpoint &e, std::size_t n)
{
	std::string s;
	char buf[16];
	int flags = 0, got;

	while (s.size() < n) {
		got = t_rcv(e.fd, buf, sizeof buf, &flags);
		if (got < 0)
			throw Failure("t_rcv");
		s.append(buf, static_cast<std::size_t>(got));
	}
	return s;
}

void
release(const Endpoint &e, bool first)
{
	char c;
	int flags;

	if (first && t_sndrel(e.fd) < 0)
		throw Failure("t_sndrel");
	if (t_rcv(e.fd, &c, 1, &flags) != -1 || t_errno != TLOOK ||
	    t_rcvrel(e.fd) < 0)
		throw Failure("t_rcvrel");
	if (!first && t_sndrel(e.fd) < 0)
		throw Failure("t_sndrel");
}

void
caller(const char *device, const netbuf &to, int n, bool &well)
try {
	Endpoint e(device);
	struct t_call call = {};
	const std::string mine = "caller " + std::to_string(n);

	if (t_bind(e.fd, nullptr, nullptr) < 0)
		throw Failure("t_bind");
	/* an error of this thread, which no other one sees */
	if (t_unbind(2) != -1 || t_errno != TBADF)
		throw Failure("t_unbind");
	call.addr = to;
	if (t_connect(e.fd, &call, nullptr) < 0)
		throw Failure("t_connect");
	put(e, mine);
	if (take(e, mine.size()) != mine)
		throw Failure("another's answer");
	release(e, true);
	well = true;
} catch (const std::exception &x) {
	std::fprintf(stderr, "%s\n", x.what());
}

} // namespace

int
main()
try {
	const int callers = 6;
	const char *device = "/dev/ticotsord";
	bool well[callers] = {};
	char addr[64];
	Endpoint server(device);
	struct t_bind req = {}, ret = {};
	std::vector<std::thread> crew;
	std::vector<struct t_call *> calls;
	int bad = 0;

	req.qlen = callers;
	ret.addr.buf = addr;
	ret.addr.maxlen = sizeof addr;
	if (t_bind(server.fd, &req, &ret) < 0)
		throw Failure("t_bind");
	for (int i = 0; i < callers; i++)
		crew.emplace_back(caller, device, std::cref(ret.addr), i,
		    std::ref(well[i]));
	/* all must have called: else t_accept() says TLOOK */
	for (int i = 0; i < callers; i++) {
		auto *call = static_cast<struct t_call *>(
		    t_alloc(server.fd, T_CALL, T_ALL));
		if (call == nullptr || t_listen(server.fd, call) < 0)
			throw Failure("t_listen");
		calls.push_back(call);
	}
	for (auto *call : calls) {
		Endpoint e(device);

		if (t_accept(server.fd, e.fd, call) < 0)
			throw Failure("t_accept");
		t_free(call, T_CALL);
		put(e, take(e, sizeof "caller 0" - 1));
		release(e, false);
	}
	for (auto &t : crew)
		t.join();
	for (bool w : well)
		bad += !w;
	return bad;
} catch (const std::exception &x) {
	std::fprintf(stderr, "%s\n", x.what());
	std::_Exit(1);
}
