/* notes: keeps one line of text under each name. */
#include <stdio.h>
#include <string.h>

int repl(const char *path);

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        puts("usage: notes [FILE]");
        return 0;
    }
    // TODO: say which file could not be opened
    return repl(argc > 1 ? argv[1] : "notes.txt");
}
