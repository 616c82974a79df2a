//! Of Go, the JVM, .NET and C what comes with the language or the system.

use crate::gate::imports::Import;

/// Whether a path of Go is the standard library's: no other path may begin so, but any without a dot may be a module's.
pub(super) fn is_go(first: &str) -> bool {
    super::listed(GO, first)
}

/// Whether `-lx` links a library of the system.
pub(super) fn is_system_library(flag: &str) -> bool {
    flag.strip_prefix("-l")
        .is_some_and(|name| super::listed(LIBRARIES, &name.to_ascii_lowercase()))
}

/// Whether `[DllImport("x.dll")]` loads a library of the system. One without the ending may be anything else, but for
/// Windows' own names.
pub(super) fn is_system_dll(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    match name.strip_suffix(".dll") {
        Some(stem) => super::listed(LIBRARIES, stem),
        None => name == "libc" || name.ends_with("32") && super::listed(LIBRARIES, &name),
    }
}

/// Whether a name of Java is the JDK's: a package that it exports, or what is below `java` and `jdk`. Of `javax` only
/// a part is: `javax.persistence`, `javax.inject` and, since Java 11, `javax.xml.bind` are packages.
pub(super) fn is_jdk(import: &Import) -> bool {
    let first = import.first_segment().unwrap_or_default();
    matches!(first, "java" | "jdk") || JDK.split(' ').any(|package| is_in(import, package))
}

/// Whether a name is this package, or of a class in it. A package below is another one.
fn is_in(import: &Import, package: &str) -> bool {
    let mut rest = import.identity.iter();
    let begins = package
        .split('.')
        .all(|part| rest.next().is_some_and(|segment| segment == part));
    begins
        && rest
            .next()
            .is_none_or(|class| class == "*" || class.starts_with(char::is_uppercase))
}

/// Whether a name of C# is the framework's. Under `System` are also namespaces that come with packages alone.
pub(super) fn is_framework(import: &Import) -> bool {
    let begins = |names: &[&str]| names.iter().any(|name| begins_with(import, name));
    (begins(FRAMEWORK)) && !begins(PACKAGES)
}

fn begins_with(import: &Import, name: &str) -> bool {
    let mut segments = import.identity.iter();
    name.split('.').all(|part| {
        segments
            .next()
            .is_some_and(|segment| segment.eq_ignore_ascii_case(part))
    })
}

/// Whether `<header.h>` is one of the operating system or the compiler. `linux/../x` is none.
pub(super) fn is_of_the_system(header: &str) -> bool {
    match header.split_once('/') {
        Some((folder, rest)) => super::listed(FOLDERS, folder) && !rest.split('/').any(|part| part == ".."),
        None => {
            super::listed(UNIX, header)
                // Windows does not tell cases apart: `<Windows.h>`, `<WinSock2.h>`.
                || super::listed(WINDOWS, &header.to_ascii_lowercase())
                || header.ends_with("intrin")
        }
    }
}

/// First segments of the standard library's paths that a program may import; `C` is cgo's, and `main` the program itself.
const GO: &str = "C main archive arena bufio bytes cmp compress container context crypto database debug embed encoding \
    errors expvar flag fmt go hash html image index io iter log maps math mime net os path plugin \
    reflect regexp runtime slices sort strconv strings structs sync syscall testing text time unicode \
    unique unsafe weak";

/// What C libraries, compilers, macOS and Windows have, in lower case.
const LIBRARIES: &str = "advapi32 atomic bcrypt c c++ comctl32 comdlg32 crypt32 dbghelp dl dwmapi gcc gcc_s gdi32 imm32 \
    iphlpapi kernel32 ktmw32 m msvcrt nsl ntdll objc ole32 oleaut32 psapi pthread resolv rt secur32 \
    shcore shell32 shlwapi socket stdc++ system user32 userenv util uuid uxtheme wer winmm ws2_32";

/// Packages that the modules of the JDK export, but for those below `java` and `jdk`. Source: `java --describe-module`.
const JDK: &str = "com.sun.jarsigner com.sun.java.accessibility.util com.sun.jdi com.sun.jdi.connect \
    com.sun.jdi.connect.spi com.sun.jdi.event com.sun.jdi.request com.sun.management com.sun.net.httpserver \
    com.sun.net.httpserver.spi com.sun.nio.file com.sun.nio.sctp com.sun.security.auth \
    com.sun.security.auth.callback com.sun.security.auth.login com.sun.security.auth.module \
    com.sun.security.jgss com.sun.source.doctree com.sun.source.tree com.sun.source.util \
    com.sun.tools.attach com.sun.tools.attach.spi com.sun.tools.javac com.sun.tools.jconsole \
    javax.accessibility javax.annotation.processing javax.crypto javax.crypto.interfaces javax.crypto.spec \
    javax.imageio javax.imageio.event javax.imageio.metadata javax.imageio.plugins.bmp \
    javax.imageio.plugins.jpeg javax.imageio.plugins.tiff javax.imageio.spi javax.imageio.stream \
    javax.lang.model javax.lang.model.element javax.lang.model.type javax.lang.model.util \
    javax.management javax.management.loading javax.management.modelmbean javax.management.monitor \
    javax.management.openmbean javax.management.relation javax.management.remote \
    javax.management.remote.rmi javax.management.timer javax.naming javax.naming.directory \
    javax.naming.event javax.naming.ldap javax.naming.ldap.spi javax.naming.spi javax.net javax.net.ssl \
    javax.print javax.print.attribute javax.print.attribute.standard javax.print.event javax.rmi.ssl \
    javax.script javax.security.auth javax.security.auth.callback javax.security.auth.kerberos \
    javax.security.auth.login javax.security.auth.spi javax.security.auth.x500 javax.security.cert \
    javax.security.sasl javax.smartcardio javax.sound.midi javax.sound.midi.spi javax.sound.sampled \
    javax.sound.sampled.spi javax.sql javax.sql.rowset javax.sql.rowset.serial javax.sql.rowset.spi \
    javax.swing javax.swing.border javax.swing.colorchooser javax.swing.event javax.swing.filechooser \
    javax.swing.plaf javax.swing.plaf.basic javax.swing.plaf.metal javax.swing.plaf.multi \
    javax.swing.plaf.nimbus javax.swing.plaf.synth javax.swing.table javax.swing.text \
    javax.swing.text.html javax.swing.text.html.parser javax.swing.text.rtf javax.swing.tree \
    javax.swing.undo javax.tools javax.transaction.xa javax.xml javax.xml.catalog javax.xml.crypto \
    javax.xml.crypto.dom javax.xml.crypto.dsig javax.xml.crypto.dsig.dom \
    javax.xml.crypto.dsig.keyinfo javax.xml.crypto.dsig.spec javax.xml.datatype javax.xml.namespace \
    javax.xml.parsers javax.xml.stream javax.xml.stream.events javax.xml.stream.util \
    javax.xml.transform javax.xml.transform.dom javax.xml.transform.sax javax.xml.transform.stax \
    javax.xml.transform.stream javax.xml.validation javax.xml.xpath netscape.javascript org.ietf.jgss \
    org.w3c.dom org.w3c.dom.bootstrap org.w3c.dom.css org.w3c.dom.events org.w3c.dom.html \
    org.w3c.dom.ls org.w3c.dom.ranges org.w3c.dom.stylesheets org.w3c.dom.traversal org.w3c.dom.views \
    org.w3c.dom.xpath org.xml.sax org.xml.sax.ext org.xml.sax.helpers sun.misc sun.reflect";

/// Namespaces that come with .NET.
const FRAMEWORK: &[&str] = &["System", "Microsoft.CSharp", "Microsoft.VisualBasic", "Microsoft.Win32"];

/// Namespaces below them that come with packages: they are no part of .NET, whatever their names say.
const PACKAGES: &[&str] = &[
    "Microsoft.Win32.TaskScheduler",
    "System.ClientModel",
    "System.CommandLine",
    "System.ComponentModel.Composition",
    "System.Composition",
    "System.Data.Entity",
    "System.Data.Odbc",
    "System.Data.OleDb",
    "System.Data.OracleClient",
    "System.Data.SQLite",
    "System.Data.SqlClient",
    "System.Data.SqlServerCe",
    "System.Device",
    "System.DirectoryServices",
    "System.Fabric",
    "System.Formats.Cbor",
    "System.Formats.Nrbf",
    "System.IO.Abstractions",
    "System.IO.Hashing",
    "System.IO.Ports",
    "System.IdentityModel",
    "System.Interactive",
    "System.Json",
    "System.Linq.Async",
    "System.Linq.Dynamic",
    "System.Management",
    "System.Net.Http.Formatting",
    "System.Numerics.Tensors",
    "System.Reactive",
    "System.Runtime.Caching",
    "System.Security.Cryptography.Pkcs",
    "System.Security.Cryptography.Xml",
    "System.ServiceModel",
    "System.ServiceProcess",
    "System.Spatial",
    "System.Speech",
    "System.Web.Cors",
    "System.Web.Helpers",
    "System.Web.Http",
    "System.Web.Mvc",
    "System.Web.OData",
    "System.Web.Optimization",
    "System.Web.Razor",
    "System.Web.WebPages",
    "System.Windows.Interactivity",
];

/// Folders of headers of the C library, kernels, compilers and platforms.
const FOLDERS: &str = "arpa asm asm-generic bits dispatch gnu libkern linux mach mach-o machine malloc net netinet \
    netpacket objc os scsi sound sys winrt wrl xpc \
    AVFoundation AppKit ApplicationServices AudioToolbox Carbon Cocoa CoreAudio CoreData CoreFoundation \
    CoreGraphics CoreMedia CoreServices CoreText CoreVideo Foundation IOKit Metal MetalKit QuartzCore \
    Security SystemConfiguration UIKit WebKit XCTest";

/// Headers of Linux, the BSDs, macOS and compilers without a folder; without `.h`.
const UNIX: &str = "AssertMacros Availability AvailabilityMacros TargetConditionals argp argz arm_acle arm_neon arm_sve \
    byteswap copyfile cpuid crt_externs crypt cxxabi elf envz error execinfo features fstab fts \
    getopt gshadow ifaddrs lastlog libproc link malloc mcheck memory mntent nlist obstack omp paths \
    printf pty removefile resolv shadow sysexits termio ttyent unwind utmp values xlocale";

/// Headers of the Windows SDK and of Visual C++; in lower case, without `.h`.
const WINDOWS: &str = "accctrl aclapi afx afxcmn afxext afxwin atlbase atlcom atlstr atlwin audioclient authz basetsd \
    bcrypt bluetoothapis cfgmgr32 comdef comdefsp combaseapi commctrl commdlg comutil conio consoleapi \
    corecrt crtdbg d2d1 d3d11 d3d12 d3d9 d3dcompiler dbghelp dbt devguid dinput direct dpapi dsound \
    dwmapi dwrite dxgi eh errhandlingapi evntcons evntprov evntrace excpt fileapi gdiplus guiddef \
    handleapi heapapi hidpi hidsdi hstring icmpapi imagehlp initguid inspectable intsafe io ioapiset \
    ipexport iphlpapi knownfolders libloaderapi lm lmaccess lmapibuf lmcons memoryapi mfapi \
    minwinbase minwindef mmdeviceapi mmsystem mswsock namedpipeapi ncrypt netioapi ntsecapi ntstatus \
    objbase objidl ole2 oleacc oleauto olectl pathcch powerbase powrprof process processthreadsapi \
    profileapi propkey propvarutil psapi richedit roapi rpc rpcdce rpcndr sal schannel sddl sdkddkver \
    security setupapi share shellapi shlguid shlobj shlobj_core shlwapi sspi stringapiset strsafe \
    synchapi sysinfoapi taskschd tchar timeapi tlhelp32 traceloggingprovider unknwn unknwnbase userenv \
    uxtheme vcruntime versionhelpers vfw wbemidl winbase wincon wincrypt windef windows windowsx \
    winerror wingdi winhttp wininet winioctl winnetwk winnls winnt winreg winsock winsock2 winsvc \
    winternl wintrust winusb winuser winver ws2def ws2tcpip wtsapi32 wtypes xaudio2 xinput";
