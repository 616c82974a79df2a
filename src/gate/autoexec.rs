//! Files that run by themselves later: what a tool executes or obeys because it lies there, when a
//! folder is opened or entered, at a checkout, a commit or an install, or on a server after a push.
//!
//! What belongs in the list: settings, hooks and instructions. What does not: code that runs because
//! somebody builds, tests or lints (`package.json`, `conftest.py`, `Makefile`, `build.rs`,
//! `eslint.config.js`), and what ordinary work has to change (`.gitignore`, `.tool-versions` and
//! the like, which only name versions). Of the dotenv files only `.env` is in it: agents load it by
//! themselves, and it can name the server they talk to; `.env.example` and its like are for the
//! application.

use std::sync::LazyLock;

use super::known::{self, Pattern, Place};
use super::paths::Match;

/// Why each runs, and its patterns: a list of words. `**/` where the tool looks in any folder that
/// it is started in; CI servers look at the root only.
pub const LIST: &[(&str, &str)] = &[
    ("run by claude at start", "**/.claude/** **/.mcp.json"),
    ("read by claude at start", "**/CLAUDE.md **/CLAUDE.local.md"),
    (
        "read by agents at start",
        "**/AGENTS.md **/AGENTS.override.md **/.agents/**",
    ),
    ("run by codex at start", "**/.codex/**"),
    ("run by gemini at start", "**/.gemini/**"),
    ("read by gemini at start", "**/GEMINI.md"),
    ("run by qwen at start", "**/.qwen/**"),
    ("read by qwen at start", "**/QWEN.md"),
    ("run by opencode at start", "**/.opencode/** **/opencode.json*"),
    ("run by openhands at start", "**/.openhands*"),
    ("run by aider at start", "**/.aider*"),
    ("read by goose at start", "**/.goose*"),
    ("run by crush at start", "**/.crush* **/crush.json"),
    ("read by crush at start", "**/CRUSH.md"),
    ("run by cursor on opening", "**/.cursor/** **/.cursorrules"),
    ("read by windsurf on opening", "**/.windsurf/** **/.windsurfrules"),
    ("run by copilot at start", "**/.github/hooks/** **/.github/copilot/**"),
    (
        "read by copilot at start",
        "**/.github/copilot-instructions.md **/.github/instructions/** **/.github/agents/** **/.github/skills/**",
    ),
    (
        "read by editor agents on opening",
        "**/.clinerules* **/.roo/** **/.roorules* **/.roomodes **/.kilocode/** **/.kiro/** **/.continue/** \
         **/.amazonq/** **/.junie/** **/.augment/** **/.augment-guidelines **/.trae/** **/.factory/**",
    ),
    ("read by agents at start", "**/.env"),
    (
        "run by VS Code on opening",
        "**/.vscode/tasks.json **/.vscode/settings.json **/.vscode/launch.json **/.vscode/mcp.json \
         **/*.code-workspace",
    ),
    ("run by JetBrains IDEs", "**/.idea/** **/*.run.xml **/.fleet/**"),
    ("run by zed on opening", "**/.zed/**"),
    (
        "run by vim on opening",
        "**/.vimrc **/.gvimrc **/.exrc **/.nvimrc **/.nvim.lua **/.lvimrc **/.vim/coc-settings.json",
    ),
    ("run by emacs on opening", "**/.dir-locals.el **/.dir-locals-2.el"),
    (
        "run by dev containers on opening",
        "**/.devcontainer/** **/.devcontainer.json",
    ),
    (
        "run by cloud workspaces on opening",
        ".gitpod.yml .replit .idx/** .codesandbox/** .stackblitzrc",
    ),
    ("run by direnv on cd", "**/.envrc **/.envrc.local"),
    ("run by the shell on cd", "**/.autoenv* **/.rvmrc **/.shadowenv.d/**"),
    (
        "run by mise on cd",
        "**/mise.toml **/mise.*.toml **/.mise.toml **/.mise.*.toml **/.mise/** **/mise/config.toml **/.config/mise*",
    ),
    ("run by python at start", "**/sitecustomize.py **/usercustomize.py"),
    ("run by debuggers at start", "**/.gdbinit **/.lldbinit **/.pdbrc"),
    ("run by irb at start", "**/.irbrc **/.pryrc"),
    ("run by R at start", "**/.Rprofile **/.Renviron"),
    ("run by npm at install", "**/.npmrc"),
    ("run by pnpm at install", "**/.pnpmfile.* **/pnpmfile.js"),
    (
        "run by yarn at start",
        "**/.yarnrc **/.yarnrc.yml **/.yarn/plugins/** **/.yarn/releases/**",
    ),
    ("run by bun at start", "**/bunfig.toml"),
    ("run by cargo", "**/.cargo/config.toml **/.cargo/config"),
    ("run by bundler at start", "**/.bundle/config"),
    ("run by maven at start", "**/.mvn/**"),
    ("run by gradle at start", "**/gradle/wrapper/**"),
    ("run by git at checkout", "**/.gitattributes .gitmodules .lfsconfig"),
    ("run by git", "**/.gitconfig"),
    (
        "run by git at commit",
        "**/.husky/** **/.huskyrc* **/.githooks/** **/.git-hooks/** **/.overcommit.yml **/.trunk/** \
         **/.simple-git-hooks.* **/simple-git-hooks.js **/simple-git-hooks.cjs **/simple-git-hooks.json",
    ),
    (
        "run by lefthook at commit",
        "**/lefthook.yml **/lefthook.yaml **/lefthook.toml **/lefthook.json **/lefthook-local.* **/.lefthook.* \
         **/.lefthook-local.* **/.lefthook/** **/.config/lefthook.*",
    ),
    (
        "run by pre-commit at commit",
        "**/.pre-commit-config.yaml **/.pre-commit-config.yml",
    ),
    (
        "run by lint-staged at commit",
        "**/.lintstagedrc* **/lint-staged.config.*",
    ),
    (
        "run by CI",
        ".github/workflows/** .github/actions/** .forgejo/workflows/** .forgejo/actions/** .gitea/workflows/** \
         .gitea/actions/** .gitlab-ci.yml .gitlab-ci.yaml .gitlab/ci/** .circleci/** .buildkite/** .woodpecker* \
         .drone* .travis.yml **/Jenkinsfile **/*.jenkinsfile azure-pipelines.yml azure-pipelines.yaml \
         .azure-pipelines/** .azuredevops/** bitbucket-pipelines.yml appveyor.yml .appveyor.yml .cirrus.yml \
         .cirrus.star .semaphore/** .teamcity/** .builds/** .build.yml .tekton/** cloudbuild.yaml cloudbuild.yml \
         buildspec.yml bitrise.yml codemagic.yaml",
    ),
];

static PATTERNS: LazyLock<Vec<(Pattern, &'static str)>> = LazyLock::new(|| {
    let words = LIST
        .iter()
        .flat_map(|(why, words)| words.split_ascii_whitespace().map(move |word| (word, *why)));
    words.map(|(word, why)| (Pattern::new(word), why)).collect()
});

/// What a path is to the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// The pattern, as it could stand in a policy.
    pub pattern: &'static str,
    /// Such as `run by git at commit`.
    pub why: &'static str,
    /// Whether it is spelled as the tool spells it.
    pub spelling: Match,
    /// It is only a folder on the way to such a file: as a link it would lead the tool elsewhere.
    pub is_above: bool,
}

/// The entry of the list that this path, or what lies below it, falls under.
pub fn find(path: &[u8]) -> Option<Known> {
    let ((pattern, why), place, spelling) = known::find(&PATTERNS, path)?;
    Some(Known {
        pattern: pattern.text,
        why,
        spelling,
        is_above: place == Place::Above,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::paths::PathRule;

    fn within(path: &str) -> bool {
        find(path.as_bytes()).is_some_and(|known| !known.is_above)
    }

    #[test]
    fn every_pattern_can_be_written_in_a_policy() {
        for (pattern, why) in PATTERNS.iter() {
            let rule = PathRule::parse(pattern.text, String::new());
            assert!(rule.is_ok(), "{} ({why})", pattern.text);
            let path = pattern
                .text
                .trim_start_matches("**/")
                .trim_end_matches("/**")
                .replace('*', "x");
            assert!(within(&path), "{path}");
            assert!(rule.is_ok_and(|rule| rule.denies(path.as_bytes()).is_some()), "{path}");
            assert_eq!(why.lines().count(), 1);
        }
    }

    #[test]
    fn what_ordinary_work_changes_is_not_in_it() {
        for path in [
            "package.json",
            "Cargo.toml",
            "Makefile",
            "conftest.py",
            "build.rs",
            "eslint.config.js",
            ".gitignore",
            ".tool-versions",
            ".nvmrc",
            "rust-toolchain.toml",
            ".env.example",
            ".env.test",
            ".editorconfig",
            ".prettierrc",
            "tsconfig.json",
            "pnpm-workspace.yaml",
            "vite.config.ts",
            "Dockerfile",
            "docker-compose.yml",
            ".github/CODEOWNERS",
            ".github/ISSUE_TEMPLATE/bug.md",
            ".github/dependabot.yml",
            ".vscode/extensions.json",
            "src/cursor/x.ts",
            "claude/CLAUDE.ts",
            "core/agents.ts",
            "templates/.github/workflows/ci.yml",
            "packages/gradle/build.gradle",
            "src/mise.rs",
            ".pre-commit-hooks.yaml",
            "README.md",
        ] {
            assert_eq!(find(path.as_bytes()), None, "{path}");
        }
    }

    #[test]
    fn depth_and_spelling() {
        for path in [
            "AGENTS.md",
            "a/b/AGENTS.md",
            "x/.vscode/tasks.json",
            "a/.claude/hooks/x.sh",
            ".ENVRC",
        ] {
            assert!(within(path), "{path}");
        }
        assert_eq!(find(b"docs/agents.md").map(|known| known.spelling), Some(Match::Twin));
        assert!(find(b".github").is_some_and(|known| known.is_above));
        assert!(find(b"x/.vscode").is_some_and(|known| known.is_above));
    }
}
