/* Reads commands: `put NAME TEXT` and `get NAME`. */
#include <stdio.h>

int db_put(const char *path, const char *name, const char *text);
int db_get(const char *path, const char *name, char *text, size_t size);
void cut_line_end(char *text);

int repl(const char *path) {
    char line[512], name[64], text[512];
    while (fputs("> ", stdout) >= 0 && fgets(line, sizeof line, stdin) != NULL) {
        cut_line_end(line);
        if (sscanf(line, "put %63s %511[^\n]", name, text) == 2)
            puts(db_put(path, name, text) == 0 ? "ok" : "not written");
        else if (sscanf(line, "get %63s", name) == 1)
            puts(db_get(path, name, text, sizeof text) == 0 ? text : "no such note");
        // TODO: answer a command that nobody knows
    }
    return 0;
}
