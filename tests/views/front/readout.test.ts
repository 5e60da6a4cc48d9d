import assert from 'node:assert/strict';
import { test } from 'node:test';

import { placeBeside } from '../../../triton_lab/views/front/drawing/readout.js';

test('words stand beside their cell, in the window, and not over the cell', () => {
  const [width, height] = [120, 40];
  const [right, bottom] = [400, 300];
  for (let left = 0; left <= right - 20; left += 5) {
    for (let top = 0; top <= bottom - 20; top += 5) {
      const cell = { left, top, right: left + 20, bottom: top + 20 };
      const [x, y] = placeBeside(cell, [width, height], [right, bottom]);
      assert.ok(x >= 0 && y >= 0 && x + width <= right && y + height <= bottom, `${left}, ${top}: ${x}, ${y}`);
      const apart = x >= cell.right || x + width <= cell.left || y >= cell.bottom || y + height <= cell.top;
      assert.ok(apart, `${left}, ${top}: over the cell`);
      const away = [Math.max(x - cell.right, cell.left - x - width), Math.max(y - cell.bottom, cell.top - y - height)];
      assert.ok(Math.max(...away) <= 8, `${left}, ${top}: far from the cell`);
    }
  }
});

test('words larger than the window begin in it', () => {
  assert.deepEqual(placeBeside({ left: 90, top: 90, right: 95, bottom: 95 }, [500, 400], [100, 100]), [4, 4]);
});
