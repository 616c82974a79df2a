# What must work inside, a line each on standard output: `works` or `fails`, TAB, what.
# usage: inside.sh TOP [quick]; TOP/local is a repository, TOP/package an npm package, TOP/toolchain (if there) what cargo needs.
set -u
top=$1
export GIT_AUTHOR_NAME=An GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=An GIT_COMMITTER_EMAIL=a@example.com
work() {
	what=$1
	shift
	# Not as a condition: there, the shell goes on after a failure.
	(set -e; "$@") >"$TMPDIR/out" 2>&1 </dev/null
	status=$?
	if [ $status = 0 ]; then
		printf 'works\t%s\n' "$what"
	else
		printf 'fails\t%s (%s)\n' "$what" $status
		sed 's/^/  | /' "$TMPDIR/out"
	fi
}

add_and_commit() {
	git status --porcelain
	echo one >docs-one.txt
	git add docs-one.txt
	git commit -qm one
	git log -1 --format=%s | grep -x one
}
branches() {
	git branch side
	git switch -qc topic
	echo topic >topic.txt
	git add -A
	git commit -qm topic
	git switch -q side
	git tag v1
	git tag -am annotated v2
}
stash() {
	echo more >>docs-one.txt
	git stash -q
	git diff --quiet
	git stash pop -q
	grep more docs-one.txt
	git checkout -q docs-one.txt
}
rebase() {
	echo side >side.txt
	git add -A
	git commit -qm side
	git rebase -q topic
	git log --format=%s | grep -x topic
}
cherry_pick() {
	git switch -qc other HEAD~2
	git cherry-pick topic
	test -f topic.txt
	git switch -q side
}
submodule() {
	git -c protocol.file.allow=always submodule --quiet add "$top/local" sub
	test -f sub/file
	git commit -qm submodule
	git submodule --quiet deinit -f sub
	git rm -qf sub
	git rm -qf .gitmodules
	git commit -qm 'no submodule'
}
nested() {
	git init -q nested
	(cd nested && echo x >x && git add x && git commit -qm x)
	rm -rf nested
}
multiprocessing() {
	cat >pool.py <<-END
		import multiprocessing as m
		from multiprocessing import shared_memory
		def twice(n): return 2 * n
		if __name__ == '__main__':
		    for way in ('fork', 'spawn'):
		        m.set_start_method(way, force=True)
		        with m.Pool(2) as pool: assert pool.map(twice, range(9)) == [2 * n for n in range(9)]
		    s = m.Semaphore(1); s.acquire(); s.release()
		    m.Queue().put(1)
		    block = shared_memory.SharedMemory(create=True, size=100)
		    block.buf[0] = 7; block.close(); block.unlink()
	END
	python3 pool.py
	rm pool.py
}
environment() {
	python3 -m venv --without-pip env
	env/bin/python -c 'import sys; assert sys.prefix != sys.base_prefix'
	rm -r env
}
python_pty() {
	python3 -c 'import pty, sys; sys.exit(pty.spawn(["sh", "-c", "test -t 0 && tty"]))' | grep /dev/pts/
}
script_pty() {
	script -qec 'test -t 0 && echo terminal' "$TMPDIR/typescript" | grep terminal
}
run_tmux() {
	TMUX_TMPDIR=$TMPDIR tmux -L x -f /dev/null new -d "touch $TMPDIR/in-tmux; sleep 20"
	for n in $(seq 200); do [ ! -e "$TMPDIR/in-tmux" ] || break; sleep 0.02; done
	test -e "$TMPDIR/in-tmux"
	TMUX_TMPDIR=$TMPDIR tmux -L x kill-server
}
temporary() {
	file=$(mktemp)
	echo x >"$file"
	case $file in "$TMPDIR"/*) ;; *) return 1 ;; esac
	mv "$file" moved
	mv moved "$TMPDIR/back"
	grep x "$TMPDIR/back"
	mv "$TMPDIR/back" .
	rm back
}
files() {
	python3 - <<-'END'
		import fcntl, mmap, os, socket, threading
		for folder in (".", os.environ["TMPDIR"]):
		    at = os.path.join(folder, "f")
		    with open(at, "w+b") as f:
		        fcntl.flock(f, fcntl.LOCK_EX); fcntl.lockf(f, fcntl.LOCK_EX)
		        f.truncate(1 << 30); f.seek(1 << 29); f.write(b"x"); f.flush()
		        assert os.stat(at).st_blocks < 10000
		        f.truncate(4096)
		        m = mmap.mmap(f.fileno(), 4096); m[0:1] = b"y"; m.flush(); m.close()
		    os.chmod(at, 0o600); os.utime(at, (1, 1)); os.setxattr(at, "user.x", b"1")
		    os.link(at, at + "2"); os.symlink("f", at + "3"); os.mkfifo(at + "4"); os.rename(at, at + "5")
		    for end in "2345": os.unlink(at + end)
		    os.chdir(folder)
		    s = socket.socket(socket.AF_UNIX); s.bind("s"); s.listen()
		    c = socket.socket(socket.AF_UNIX); c.connect("s"); s.accept()[0].send(b"hi"); assert c.recv(2) == b"hi"
		    os.unlink("s")
		    os.chdir(os.environ["PWD"])
	END
}
tcp() {
	python3 - <<-'END'
		import socket
		s = socket.create_server(("127.0.0.1", 0))
		c = socket.create_connection(s.getsockname()); s.accept()[0].send(b"hi"); assert c.recv(2) == b"hi"
		a = socket.socket(socket.AF_UNIX); a.bind("\0agentgate-inside-%d" % s.getsockname()[1]); a.listen()
		socket.socket(socket.AF_UNIX).connect(a.getsockname())
	END
}
signals() {
	sleep 20 &
	kill $!
	! wait $!
	setsid sleep 20 &
	kill -9 $!
}
devices() {
	echo x >/dev/null
	head -c 4 /dev/urandom | wc -c | grep -w 4
	head -c 4 /dev/zero >/dev/null
	! echo x >/dev/full
	echo x >/dev/stdout
	echo x | cat /dev/stdin
	ls /proc/self/fd >/dev/null
	ps >/dev/null 2>&1 || test ! -x /bin/ps
}
task() {
	grep SECRET "$AGENTGATE_TASK"
	touch "$AGENTGATE_OUTBOX/answer.json"
	rm "$AGENTGATE_OUTBOX/answer.json"
}
private_home() {
	git config --global inside.works yes
	echo x >"$HOME/x"
	mkdir -p "$HOME/.cache/x"
}
cargo_build() {
	export CARGO_NET_OFFLINE=true
	mkdir -p crate/src
	printf '[package]\nname = "small"\nversion = "0.1.0"\nedition = "2021"\n' >crate/Cargo.toml
	echo 'fn main() { println!("built"); }' >crate/src/main.rs
	(cd crate && PATH=$top/home/.cargo/bin:$PATH cargo build -q && target/debug/small | grep built)
	rm -r crate
}
npm_install() {
	mkdir app
	echo '{"name":"app","version":"1.0.0"}' >app/package.json
	(cd app && npm install --offline --no-audit --no-fund --no-update-notifier "$top/package")
	(cd app && node -e 'if (require("local-package") !== 42) process.exit(1)')
	rm -r app
}
collect() {
	git gc -q
	git fsck
	git log -1 topic
}

work 'git status, add, commit' add_and_commit
work 'git branch, switch, tag' branches
work 'git stash' stash
work 'git rebase' rebase
work 'git cherry-pick' cherry_pick
work 'git submodule' submodule
work 'nested git init' nested
work 'python multiprocessing' multiprocessing
work 'temporary files' temporary
work 'files of every kind' files
work 'tcp and abstract sockets' tcp
work 'signals' signals
work 'devices' devices
work 'task and outbox' task
work 'private home' private_home
work 'python pty' python_pty
for program in script tmux npm cargo; do
	if [ $program = cargo ] && [ ! -e "$top/home/.cargo/bin/cargo" ] || [ $program != cargo ] && ! command -v $program >/dev/null; then
		printf 'skips\t%s\n' $program
		continue
	fi
	case $program in
	script) work 'script' script_pty ;;
	tmux) work 'tmux' run_tmux ;;
	npm) [ "${2-}" = quick ] || work 'npm install' npm_install ;;
	cargo) [ "${2-}" = quick ] || work 'cargo build' cargo_build ;;
	esac
done
[ "${2-}" = quick ] || work 'python venv' environment
work 'git gc' collect
git switch -q --detach side
echo 'export const honest = 1;' >payments/new.ts
printf 'works\tend\n'
