//! Which names an entry means, in each ecosystem.

use super::names::Ecosystem::{self, Cargo, Composer, Go, Maven, Npm, Nuget, Python, Ruby};
use super::names::{allows, forbids};

fn each(cases: &[(Ecosystem, &str, &str, bool)], judge: fn(&str, Ecosystem, &str) -> bool) {
    for &(ecosystem, entry, name, expected) in cases {
        assert_eq!(
            judge(entry, ecosystem, name),
            expected,
            "{ecosystem:?}: {entry} and {name}"
        );
    }
}

#[test]
fn what_forbids_is_read_widely() {
    each(
        &[
            (Npm, "redis", "redis", true),
            (Npm, "redis", "ioredis", false),
            (Npm, "redis", "redis-om", false),
            (Npm, "redis", "@types/redis", false),
            (Npm, "redis", "@redis/client", false),
            (Npm, "redis/client", "redis", false),
            (Npm, "@redis/*", "@redis/client", true),
            (Npm, "@redis/**", "@redis/client", true),
            (Npm, "@redis", "@redis/client", true),
            (Npm, "*redis*", "ioredis-mock", true),
            (Npm, "npm:redis", "redis", true),
            (Python, "redis", "redis", true),
            (Python, "Redis_OM", "redis-om", true),
            (Python, "redis", "types-redis", false),
            (Python, "redis*", "redis-om", true),
            (Python, "@redis/client", "client", false),
            (Cargo, "deadpool_redis", "deadpool-redis", true),
            (Cargo, "redis", "deadpool-redis", false),
            (Ruby, "redis", "redis", true),
            (Ruby, "redis", "redis-rails", false),
            (Go, "redis", "github.com/redis/go-redis/v9", true),
            (Go, "redis", "github.com/gomodule/redigo/redis", true),
            (Go, "redis", "gopkg.in/redis.v5", true),
            (Go, "redis", "github.com/acme/go-redis-fork", false),
            (Go, "github.com/redis/go-redis", "github.com/redis/go-redis/v9", true),
            (Go, "github.com/redis/go-redis/v9", "github.com/redis/go-redis", true),
            (Go, "github.com/redis", "github.com/redis/go-redis", true),
            (Go, "github.com/redis/go", "github.com/redis/go-redis", false),
            (Go, "redis/go-redis", "github.com/redis/go-redis", false),
            (Maven, "redis", "redis.clients:jedis", true),
            (Maven, "jedis", "redis.clients:jedis", true),
            (
                Maven,
                "redis",
                "org.springframework.boot:spring-boot-starter-data-redis",
                false,
            ),
            (Maven, "redis.clients", "redis.clients:jedis", true),
            (Maven, "redis.clients.jedis", "redis.clients:jedis", true),
            (Maven, "redis.clients:jedis", "redis.clients:jedis", true),
            (Maven, "redis.clients:*", "redis.clients:jedis", true),
            (Maven, "redis:jedis", "redis.clients:jedis", false),
            (Maven, "org.**:x", "org.a.b:x", true),
            (Maven, "redis", "com.acme:redistribution", false),
            (Nuget, "redis", "stackexchange.redis", true),
            (Nuget, "StackExchange.Redis", "stackexchange.redis.extensions", true),
            (Nuget, "redis", "servicestackredis", false),
            (Composer, "redis", "redis/redis", true),
            (Composer, "predis", "predis/predis", true),
            (Composer, "redis", "ext-redis", true),
            (Composer, "redis", "predis/predis", false),
            (Composer, "predis/*", "predis/predis", true),
            (Cargo, "redis.clients:jedis", "redis", false),
        ],
        forbids,
    );
}

#[test]
fn what_allows_is_read_narrowly() {
    each(
        &[
            (Npm, "redis", "redis", true),
            (Npm, "redis", "redis-om", false),
            (Npm, "@redis", "@redis/client", false),
            (Npm, "@redis/*", "@redis/client", true),
            (Python, "Zope.Interface", "zope-interface", true),
            (Cargo, "serde_json", "serde-json", true),
            (Go, "redis", "github.com/redis/go-redis", false),
            (Go, "github.com/redis/go-redis", "github.com/redis/go-redis", true),
            (Go, "github.com/redis", "github.com/redis/go-redis", false),
            (Go, "github.com/redis/**", "github.com/redis/go-redis", true),
            (Go, "golang.org/x/*", "golang.org/x/sync", true),
            (Maven, "redis.clients", "redis.clients:jedis", false),
            (Maven, "redis.clients:jedis", "redis.clients:jedis", true),
            (Maven, "org.springframework.**:*", "org.springframework.boot:x", true),
            (Maven, "org.springframework:*", "org.springframework.boot:x", false),
            (Nuget, "StackExchange.Redis", "stackexchange.redis", true),
            (Nuget, "StackExchange", "stackexchange.redis", false),
            (Nuget, "StackExchange.**", "stackexchange.redis", true),
            (Composer, "predis", "predis/predis", false),
            (Composer, "ext-redis", "ext-redis", true),
            (Composer, "predis/predis", "predis/predis", true),
        ],
        allows,
    );
}
