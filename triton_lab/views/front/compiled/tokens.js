/** Code in colours: a line in pieces, by what each piece is. */

/** @typedef {"" | "comment" | "string" | "number" | "keyword" | "operation" | "value" | "type"} TokenKind */
/** @typedef {[kind: TokenKind, text: string]} Token */

const PYTHON_WORDS = "and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield None True False";
const LLVM_WORDS = "define declare local_unnamed_addr to label align addrspace nnan ninf nsz arcp contract afn reassoc fast nuw nsw exact inbounds volatile syncscope acquire release monotonic acq_rel true false undef null zeroinitializer void ptr float double half bfloat";
const words = (/** @type {string} */ text) => text.split(" ").join("|");
const STRING = String.raw`"(?:[^"\\]|\\.)*"?`;

/** What each language is made of, the first that matches wins. @type {Record<string, [TokenKind, string][]>} */
const GRAMMARS = {
  python: [
    ["comment", "#.*"],
    ["string", String.raw`"""(?:[^"]|"(?!""))*(?:""")?|${STRING}|'(?:[^'\\]|\\.)*'?`],
    ["keyword", String.raw`\b(?:${words(PYTHON_WORDS)})\b|@[\w.]+`],
    ["number", String.raw`\b(?:0x[\da-fA-F]+|\d[\d_]*(?:\.\d*)?(?:e[-+]?\d+)?)\b`],
  ],
  mlir: [
    ["comment", "//.*"],
    ["string", STRING],
    ["value", String.raw`%[\w#:$-]+|\^bb\d+`],
    ["type", String.raw`!?\b(?:tt\.ptr|tensor|vector|memdesc)\b|!tt\w*\.\w+|#\w[\w.]*|\b(?:[iuf]\d+|bf16|index|none|f8E\w+)\b`],
    ["number", String.raw`-?\b(?:0x[\da-fA-F]+|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\b(?!x)`],
  ],
  llvm: [
    ["comment", ";.*"],
    ["string", STRING],
    ["value", String.raw`[%@][\w.$-]+`],
    ["keyword", String.raw`\b(?:${words(LLVM_WORDS)})\b`],
    ["type", String.raw`\bi\d+\b|<\d+ x \w+>`],
    ["number", String.raw`-?\b(?:0x\w+|\d+(?:\.\d+)?(?:e[-+]?\d+)?)\b`],
  ],
  ptx: [
    ["comment", "//.*"],
    ["string", STRING],
    ["value", String.raw`%[\w.]+|\$L_\w+`],
    ["keyword", String.raw`^\s*\.\w+`],
    ["number", String.raw`-?\b(?:0[xfd][\da-fA-F]+|\d+)\b`],
  ],
  sass: [
    ["comment", String.raw`^[\w-]+:[\w-]:[\w-]:[\w-]:\w+`],
    ["value", String.raw`\b(?:U?R\d+|U?RZ|U?P\d+|U?PT|SR_[\w.]+|B\d+|L?BB?\d+|SB\d+)\b(?:\.\w+)*`],
    ["number", String.raw`-?\b(?:0x[\da-f]+|\d+(?:\.\d+)?(?:e[-+]?\d+)?)\b|\bc\[0x\w+\]\[\w+\]|desc\b`],
  ],
  amd: [
    ["comment", ";.*"],
    ["string", STRING],
    ["value", String.raw`\b[vsa](?:\d+|\[\d+:\d+\])|\b(?:exec|vcc|scc|m0)(?:_lo|_hi)?\b`],
    ["keyword", String.raw`^\s*\.\w+`],
    ["number", String.raw`-?\b(?:0x[\da-fA-F]+|\d+(?:\.\d+)?)\b`],
  ],
};
/** @type {Record<string, string>} */
const LANGUAGES = { source: "python", glir: "mlir", ttir: "mlir", ttgir: "mlir", llir: "llvm", ptx: "ptx", sass: "sass", amdgcn: "amd" };
const COMPILED_GRAMMARS = Object.fromEntries(
  Object.entries(GRAMMARS).map(([name, rows]) => [name, new RegExp(rows.map(([, pattern]) => `(${pattern})`).join("|"), "g")]),
);

/**
 * The line in pieces that make it up again.
 * @param {string} stage "source" or the name of a stage
 * @param {string} text
 * @param {string} operation the name of what the line does, "" where it is not known
 * @returns {Token[]}
 */
export function tokensOf(stage, text, operation = "") {
  const language = LANGUAGES[stage] ?? "mlir";
  const at = operation ? text.indexOf(operation) : -1;
  if (at < 0) return plainTokens(language, text);
  const after = at + operation.length;
  return [...plainTokens(language, text.slice(0, at)), ["operation", operation], ...plainTokens(language, text.slice(after))];
}

/** @param {string} language @param {string} text @returns {Token[]} */
function plainTokens(language, text) {
  /** @type {Token[]} */
  const found = [];
  let last = 0;
  for (const match of text.matchAll(COMPILED_GRAMMARS[language])) {
    if (!match[0]) continue;
    if (match.index > last) found.push(["", text.slice(last, match.index)]);
    const kind = GRAMMARS[language][match.slice(1).findIndex((group) => group !== undefined)][0];
    found.push([kind, match[0]]);
    last = match.index + match[0].length;
  }
  if (last < text.length) found.push(["", text.slice(last)]);
  return found;
}
