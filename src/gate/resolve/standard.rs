//! The languages' own libraries, as far as a name tells them for certain.
//!
//! A name that a package from outside may have as well is not in these lists; a policy allows it by an
//! entry. The lists are unions over the versions of a language that are in use.

mod compiled;

use crate::gate::imports::{Import, ImportKind, Language};

/// Whether an import that leads out of the repository is part of its language's own library:
///
/// | language | what counts |
/// |---|---|
/// | JavaScript | `node:` and the names of node's modules; `bun:` |
/// | Python | the modules of the standard library |
/// | Rust | `std`, `core`, `alloc`, `proc_macro`, `test` |
/// | Go | paths whose first segment is one of the standard library's |
/// | Java | `java`, `jdk`, and the other packages that the JDK exports; in Kotlin `kotlin` too |
/// | C, C++ | headers of ISO C, C++, POSIX, systems and compilers in `<>`; `import std` |
/// | C# | `System` but for what comes with packages alone, `Microsoft.Win32`, `.CSharp`, `.VisualBasic` |
/// | Ruby | libraries that come with it |
/// | PHP | names in the global namespace; `Random` |
pub fn is_standard(language: Language, import: &Import) -> bool {
    let first = import.first_segment().unwrap_or_default();
    match language {
        Language::JavaScript => {
            let raw = import.raw.as_str();
            // Only the whole name is node's own: `events/` and `fs/../x` are looked up as packages.
            raw.starts_with("node:") || raw.starts_with("bun:") || listed(NODE, raw)
        }
        Language::Python => listed(PYTHON, first),
        Language::Rust => {
            let first = first.trim_start_matches("r#");
            matches!(first, "std" | "core" | "alloc" | "proc_macro" | "test")
        }
        // What cgo compiles is C.
        Language::Go if import.kind == ImportKind::Include => {
            compiled::is_system_library(&import.raw) || is_standard(Language::C, import)
        }
        Language::Go => compiled::is_go(first),
        Language::Java => compiled::is_jdk(import),
        Language::Kotlin => first == "kotlin" || compiled::is_jdk(import),
        Language::C => {
            let inner = import.raw.strip_prefix('<').and_then(|raw| raw.strip_suffix('>'));
            match inner.map(|inner| (inner.strip_suffix(".h"), inner)) {
                Some((Some(header), _)) => {
                    listed(C, header) || listed(POSIX, header) || compiled::is_of_the_system(header)
                }
                Some((None, header)) => {
                    let inner = header.strip_prefix("experimental/").unwrap_or(header);
                    listed(CPP, inner)
                }
                None => matches!(import.raw.as_str(), "std" | "std.compat"),
            }
        }
        Language::CSharp if import.kind == ImportKind::Dynamic && compiled::is_system_dll(&import.raw) => true,
        Language::CSharp => compiled::is_framework(import),
        Language::Ruby => listed(RUBY, first),
        Language::Php => import.identity.len() == 1 || first.eq_ignore_ascii_case("Random"),
    }
}

fn listed(list: &str, name: &str) -> bool {
    !name.is_empty() && list.split(' ').any(|known| known == name)
}

/// Modules of node, without `node:`. Source: `module.builtinModules`.
const NODE: &str = "assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel \
    dns domain events fs http http2 https inspector module net os path perf_hooks process punycode \
    querystring readline repl stream string_decoder sys timers tls trace_events tty url util v8 vm wasi \
    worker_threads zlib assert/strict dns/promises fs/promises inspector/promises path/posix path/win32 \
    readline/promises stream/consumers stream/promises stream/web timers/promises util/types";

/// Source: `sys.stdlib_module_names`, with what older versions had.
const PYTHON: &str = "__future__ _thread abc aifc annotationlib antigravity argparse array ast asynchat asyncio asyncore \
    atexit audioop base64 bdb binascii binhex bisect builtins bz2 cProfile calendar cgi cgitb chunk \
    cmath cmd code codecs codeop collections colorsys compileall compression concurrent configparser \
    contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal difflib \
    dis distutils doctest dummy_threading email encodings ensurepip enum errno faulthandler fcntl \
    filecmp fileinput fnmatch formatter fractions ftplib functools gc genericpath getopt getpass gettext \
    glob graphlib grp gzip hashlib heapq hmac html http idlelib imaplib imghdr imp importlib inspect io \
    ipaddress itertools json keyword lib2to3 linecache locale logging lzma macpath mailbox mailcap \
    marshal math mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath \
    nturl2path numbers opcode operator optparse os ossaudiodev parser pathlib pdb pickle pickletools \
    pipes pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile \
    pyclbr pydoc pydoc_data pyexpat queue quopri random re readline reprlib resource rlcompleter runpy \
    sched secrets select selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket \
    socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string stringprep \
    struct subprocess sunau symbol symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile \
    termios textwrap this threading time timeit tkinter token tokenize tomllib trace traceback \
    tracemalloc tty turtle turtledemo types typing unicodedata unittest urllib uu uuid venv warnings \
    wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib \
    zoneinfo";

/// Default and bundled libraries that have no rival of the same name.
const RUBY: &str = "English abbrev base64 benchmark bigdecimal bundler cgi complex continuation coverage csv date dbm delegate \
    did_you_mean digest drb enumerator erb error_highlight etc expect fcntl fiber fiddle fileutils find \
    forwardable gdbm getoptlong io ipaddr json kconv logger mkmf monitor mutex_m net nkf objspace \
    observer open-uri open3 openssl optparse ostruct pathname pp prettyprint prism pstore psych pty \
    random rational rbconfig readline reline resolv resolv-replace rinda ripper rubygems securerandom \
    set shellwords singleton socket stringio strscan syntax_suggest syslog tempfile thread time timeout \
    tmpdir tsort un unicode_normalize uri weakref win32ole yaml zlib";

/// Headers of ISO C, and those of POSIX without a folder; without `.h`.
const C: &str = "aio alloca assert complex cpio ctype dirent dlfcn endian err errno fcntl fenv float fmtmsg fnmatch \
    ftw glob grp iconv inttypes iso646 langinfo libgen libintl limits locale math monetary mqueue ndbm \
    netdb nl_types poll pthread pwd regex sched search semaphore setjmp signal spawn stdalign stdarg \
    stdatomic stdbit stdbool stdckdint stddef stdint stdio stdlib stdnoreturn string strings stropts \
    syslog tar termios tgmath threads time trace uchar ucontext ulimit unistd utime utmpx wchar wctype \
    wordexp";

/// Headers of POSIX in a folder; without `.h`.
const POSIX: &str = "arpa/inet net/if netinet/in netinet/tcp sys/file sys/ioctl sys/ipc sys/mman sys/msg sys/param \
    sys/resource sys/select sys/sem sys/shm sys/socket sys/stat sys/statvfs sys/time sys/times sys/types \
    sys/uio sys/un sys/utsname sys/wait";

/// Headers of the C++ library, which have no ending.
const CPP: &str = "algorithm any array atomic barrier bit bitset cassert ccomplex cctype cerrno cfenv cfloat charconv \
    chrono cinttypes ciso646 climits clocale cmath codecvt compare complex concepts condition_variable \
    contracts coroutine csetjmp csignal cstdalign cstdarg cstdbool cstddef cstdint cstdio cstdlib \
    cstring ctgmath ctime cuchar cwchar cwctype debugging deque exception execution expected filesystem \
    flat_map flat_set format forward_list fstream functional future generator hazard_pointer hive \
    initializer_list inplace_vector iomanip ios iosfwd iostream istream iterator latch limits linalg \
    list locale map mdspan memory memory_resource meta mutex new numbers numeric optional ostream print \
    queue random ranges ratio rcu regex scoped_allocator semaphore set shared_mutex simd source_location \
    span spanstream sstream stack stacktrace stdexcept stdfloat stop_token streambuf string string_view \
    strstream syncstream system_error text_encoding thread tuple type_traits typeindex typeinfo \
    unordered_map unordered_set utility valarray variant vector version";
