// Prints a line for each file of JavaScript below the folders given: its path and, as JSON, what acorn sees it
// import and, as a second list, the strings that stand first in an argument of a call: `require("./" + x)`,
// `require.resolve("x")`, `define(["x"], ...)`. The parser is the one inside node itself.
const fs = require("fs");
const path = require("path");
const acorn = require("internal/deps/acorn/acorn/dist/acorn");

let left = Number(process.argv[1]);

function files(folder) {
  const entries = fs.readdirSync(folder, { withFileTypes: true });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const at = path.join(folder, entry.name);
    if (entry.isDirectory()) {
      files(at);
    } else if (entry.isFile() && /\.[cm]?js$/.test(entry.name) && fs.statSync(at).size < 300_000 && left > 0) {
      const found = imported(fs.readFileSync(at, "utf8"));
      if (found) {
        left -= 1;
        console.log(at + "\t" + JSON.stringify(found));
      }
    }
  }
}

function imported(source) {
  const options = { ecmaVersion: "latest", allowHashBang: true };
  let tree;
  try {
    tree = acorn.parse(source, { ...options, sourceType: "module" });
  } catch {
    try {
      tree = acorn.parse(source, { ...options, sourceType: "script", allowReturnOutsideFunction: true });
    } catch {
      return null;
    }
  }
  const found = new Set();
  const called = new Set();
  const first = (node) => {
    while (node && node.type === "BinaryExpression") node = node.left;
    if (node && node.type === "ArrayExpression") node.elements.forEach(first);
    if (node && node.type === "Literal" && typeof node.value === "string") called.add(node.value);
    if (node && node.type === "TemplateLiteral") called.add(node.quasis[0].value.cooked);
  };
  const literal = (node) => {
    if (node && node.type === "Literal" && typeof node.value === "string") found.add(node.value);
    if (node && node.type === "TemplateLiteral" && !node.expressions.length) found.add(node.quasis[0].value.cooked);
  };
  const open = [tree];
  while (open.length) {
    const node = open.pop();
    switch (node.type) {
      case "ImportDeclaration":
      case "ExportAllDeclaration":
      case "ExportNamedDeclaration":
      case "ImportExpression":
        literal(node.source);
        break;
      case "CallExpression":
        node.arguments.forEach(first);
        if (node.callee.type === "Identifier" && node.callee.name === "require") literal(node.arguments[0]);
    }
    for (const value of Object.values(node)) {
      for (const child of Array.isArray(value) ? value : [value]) {
        if (child && typeof child.type === "string") open.push(child);
      }
    }
  }
  return [[...found], [...called]];
}

process.argv.slice(2).filter((folder) => fs.existsSync(folder)).forEach(files);
