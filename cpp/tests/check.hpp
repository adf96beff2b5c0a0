// A check that says where it failed, and a list of tests: all a test program needs.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace check {

struct Test {
    const char* name;
    void (*run)();
};

inline std::vector<Test>& tests() {
    static std::vector<Test> all;
    return all;
}

// What is being tried right now, shown when a check fails.
inline std::string& situation() {
    static std::string text;
    return text;
}

template <class... Parts>
void say(const Parts&... parts) {
    std::ostringstream text;
    ((text << parts << ' '), ...);
    situation() = text.str();
}

[[noreturn]] inline void fail(const char* what, const char* file, int line) {
    std::fprintf(stderr, "%s:%d: CHECK(%s) failed\n  where: %s\n", file, line, what,
                 situation().c_str());
    std::exit(1);
}

}  // namespace check

#define CHECK(condition) ((condition) ? void(0) : check::fail(#condition, __FILE__, __LINE__))

#define TEST(name)                                                                     \
    static void name();                                                                \
    static const bool name##_listed = (check::tests().push_back({#name, name}), true); \
    static void name()
