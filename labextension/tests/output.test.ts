import assert from 'node:assert/strict';
import { test } from 'node:test';

import { SCENE, WIDGET, dropWidgets, withoutWidget } from '../src/output.ts';
import type { Data } from '../src/output.ts';

function output(data: Data) {
  return {
    data,
    metadata: { 'image/png': { width: 3 } },
    setData(options: { data: never; metadata: never }) {
      this.data = options.data;
      this.metadata = options.metadata;
    }
  };
}

test('the widget goes where our picture stands, and nothing else does', () => {
  const ours = output({ [SCENE]: { version: 1 }, [WIDGET]: { model_id: 'x' }, 'image/png': 'p' });
  const another = output({ [WIDGET]: { model_id: 'x' }, 'text/plain': 'a slider' });
  const outputs = [ours, another];
  dropWidgets({ length: 2, get: index => outputs[index]! });
  assert.deepEqual(ours.data, { [SCENE]: { version: 1 }, 'image/png': 'p' });
  assert.deepEqual(ours.metadata, { 'image/png': { width: 3 } });
  assert.deepEqual(Object.keys(another.data), [WIDGET, 'text/plain']);
});

test('an output without a widget is left alone', () => {
  assert.equal(withoutWidget({ [SCENE]: {}, 'image/png': 'p' }), null);
  assert.equal(withoutWidget({}), null);
});
