// Prints a line for each file of TypeScript below the second argument: its path and, as JSON, what Babel's parser
// sees it import and, as a second list, the strings that stand first in an argument of a call. The parser lies in
// the folder that the first argument names.
const fs = require("fs");
const path = require("path");
const parser = require(path.resolve(process.argv[1]));

function files(folder) {
  const entries = fs.readdirSync(folder, { withFileTypes: true });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const at = path.join(folder, entry.name);
    if (entry.isDirectory()) {
      files(at);
    } else if (entry.isFile() && /\.[cm]?tsx?$/.test(entry.name) && fs.statSync(at).size < 300_000) {
      const found = imported(fs.readFileSync(at, "utf8"), entry.name);
      if (found) console.log(at + "\t" + JSON.stringify(found));
    }
  }
}

function imported(source, name) {
  const typescript = ["typescript", { dts: /\.d\.[cm]?ts$/.test(name) }];
  const plugins = [typescript, "decorators-legacy", "importAssertions", ...(name.endsWith("x") ? ["jsx"] : [])];
  let file;
  try {
    file = parser.parse(source, { sourceType: "unambiguous", allowReturnOutsideFunction: true, plugins });
  } catch {
    return null;
  }
  const found = new Set();
  const called = new Set();
  // `require(folder + "/x/" + y)`: any string of what is put together.
  const first = (node) => {
    for (; node && node.type === "BinaryExpression"; node = node.left) first(node.right);
    if (node && node.type === "CallExpression") [node.callee.object, ...node.arguments].forEach(first);
    if (node && node.type === "ArrayExpression") node.elements.forEach(first);
    if (node && node.type === "StringLiteral") called.add(node.value);
    if (node && node.type === "TemplateLiteral") called.add(node.quasis[0].value.cooked);
  };
  const literal = (node) => {
    if (node && node.type === "StringLiteral") found.add(node.value);
    if (node && node.type === "TemplateLiteral" && !node.expressions.length) found.add(node.quasis[0].value.cooked);
  };
  // References are comments to this parser, and stand before all code.
  for (const comment of file.comments) {
    const reference = /^\/\s*<reference\s[^>]*?(?:types|path)\s*=\s*["']([^"']+)/.exec(comment.value);
    if (reference && !(comment.start > file.program.body[0]?.start)) found.add(reference[1]);
  }
  const open = [file.program];
  while (open.length) {
    const node = open.pop();
    switch (node.type) {
      case "ImportDeclaration":
      case "ExportAllDeclaration":
      case "ExportNamedDeclaration":
        literal(node.source);
        break;
      case "TSExternalModuleReference":
        literal(node.expression);
        break;
      case "TSIndexedAccessType":
        first(node.indexType.literal);
        break;
      case "TSImportType":
        literal(node.argument);
        break;
      case "CallExpression":
        node.arguments.forEach(first);
        if (node.callee.type === "Import") literal(node.arguments[0]);
        if (node.callee.type === "Identifier" && node.callee.name === "require") literal(node.arguments[0]);
    }
    for (const value of Object.values(node)) {
      for (const child of Array.isArray(value) ? value : [value]) {
        if (child && typeof child.type === "string" && !/^Comment/.test(child.type)) open.push(child);
      }
    }
  }
  // A lone surrogate is no text that JSON could carry, and names no module.
  return [found, called].map((names) => [...names].filter((name) => name.isWellFormed?.() ?? true));
}

files(process.argv[2]);
