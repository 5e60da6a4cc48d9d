import assert from 'node:assert/strict';
import { test } from 'node:test';

import { foldsOf } from '../../../triton_lab/views/front/compiled/folds.js';
import { tokensOf } from '../../../triton_lab/views/front/compiled/tokens.js';

const LINES: [stage: string, text: string, operation: string][] = [
  ['source', '    x = tl.load(p, mask=m, other=0.0)  # "a" comment', ''],
  ['ttgir', '    %x_6 = tt.load %x_5, %mask_4 : tensor<128x!tt.ptr<f32>, #blocked>', 'tt.load'],
  ['llir', '  %20 = bitcast i32 %19 to float', 'bitcast'],
  ['ptx', '\t@%p1 ld.global.b32 { %r1 }, [ %rd1 + 0 ];', 'ld.global.b32'],
  ['sass', '--:-:2:-:4\t@!P0 LDG.E R0, desc[UR4][R2.64];', 'LDG.E'],
  ['amdgcn', '\tv_mov_b32_dpp v6, v4 row_shr:4 ; comment', 'v_mov_b32_dpp'],
  ['ttgir', '', ''],
];

test('pieces make up the line again', () => {
  for (const [stage, text, operation] of LINES) {
    assert.equal(tokensOf(stage, text, operation).map(([, piece]) => piece).join(''), text);
  }
});

test('the operation is told apart, and values, comments and numbers are', () => {
  for (const [stage, text, operation] of LINES) {
    if (operation) assert.deepEqual(tokensOf(stage, text, operation).find(([kind]) => kind === 'operation')?.[1], operation);
  }
  const kinds = (stage: string, text: string) => new Map(tokensOf(stage, text).map(([kind, piece]) => [piece, kind]));
  assert.equal(kinds('source', LINES[0][1]).get('# "a" comment'), 'comment');
  assert.equal(kinds('source', LINES[0][1]).get('0.0'), 'number');
  assert.equal(kinds('ttgir', LINES[1][1]).get('%x_5'), 'value');
  assert.equal(kinds('sass', LINES[4][1]).get('--:-:2:-:4'), 'comment');
  assert.equal(kinds('ptx', LINES[3][1]).get('%rd1'), 'value');
});

test('what stands in braces folds, and what stands between labels', () => {
  const ttir = ['module {', '  tt.func @f() {', '    %0 = scf.for %i {', '      tt.x', '    } else {', '      tt.y', '    }', '  }', '}'];
  assert.deepEqual([...foldsOf('ttir', ttir)], [7, 6, 3, -1, 5, -1, -1, -1, -1]);
  const sass = ['Function:f', 'a', 'LBB0:', 'b', 'c', 'LBB1:', 'd'];
  assert.deepEqual([...foldsOf('sass', sass)], [1, -1, 4, -1, -1, 6, -1]);
  const llir = ['define void @f() {', '  br', '5:                  ; preds = %0', '  ret', '}'];
  assert.deepEqual([...foldsOf('llir', llir)], [3, -1, 3, -1, -1]);
});

test('in Python what is further in folds', () => {
  const lines = ['def f(x):', '    for i in range(3):', '        x += i', '', '    return x', ''];
  assert.deepEqual([...foldsOf('source', lines)], [4, 2, -1, -1, -1, -1]);
});
