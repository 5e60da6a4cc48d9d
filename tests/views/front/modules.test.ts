/** The scripts as plain modules: for Node and for a bundler, such as that of the JupyterLab extension. */

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import type TypeScript from 'typescript';

const HERE = dirname(fileURLToPath(import.meta.url));
const FRONT = join(HERE, '../../../triton_lab/views/front');
const ts = createRequire(join(HERE, '../../../labextension/package.json'))('typescript') as typeof TypeScript;

test('the entry is a module that hands over how to show a scene', async () => {
  const entry: object = await import('../../../triton_lab/views/front/view.js');
  assert.deepEqual(Object.keys(entry), ['show']);
});

test('a widget is a module that hands over how to draw it', async () => {
  const entry = await import('../../../triton_lab/views/front/widget.js');
  assert.deepEqual(Object.keys(entry.default), ['render']);
});

/** Whether it is a mere name, which has no type of its own: `_`, `this.name = ...`, `{ name: local }`. */
function named(node: TypeScript.Identifier): boolean {
  const { parent } = node;
  return (
    node.text === '_' ||
    (ts.isPropertyAccessExpression(parent) && parent.expression.kind === ts.SyntaxKind.ThisKeyword && ts.isBinaryExpression(parent.parent)) ||
    (ts.isBindingElement(parent) && parent.propertyName === node)
  );
}

test('nothing in the scripts is of type any', () => {
  const read = ts.readConfigFile(join(FRONT, 'jsconfig.json'), name => ts.sys.readFile(name));
  const config = ts.parseJsonConfigFileContent({ ...read.config, compilerOptions: { ...read.config.compilerOptions, allowJs: true } }, ts.sys, FRONT);
  const program = ts.createProgram(config.fileNames, config.options);
  const checker = program.getTypeChecker();
  const found: string[] = [];
  let seen = 0;
  for (const source of program.getSourceFiles()) {
    if (!source.fileName.startsWith(FRONT)) {
      continue;
    }
    const visit = (node: TypeScript.Node): void => {
      if ((ts.isIdentifier(node) && !named(node)) || ts.isTypeNode(node)) {
        seen++;
        if (checker.getTypeAtLocation(node).flags & ts.TypeFlags.Any) {
          const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
          found.push(`${source.fileName.slice(FRONT.length + 1)}:${line + 1}: ${node.getText(source)}`);
        }
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  assert.ok(seen > 10_000);
  assert.deepEqual(found, []);
});
