// Runs every test of the program, or those whose name contains the first argument.
#include <cstdio>
#include <cstring>

#include "check.hpp"

int main(int argc, char** argv) {
    for (const check::Test& test : check::tests()) {
        if (argc > 1 && !std::strstr(test.name, argv[1])) continue;
        std::printf("%s\n", test.name);
        std::fflush(stdout);
        test.run();
    }
}
