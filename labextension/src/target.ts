/**
 * Where a cell's launches ran, as the saved outputs of the cell tell it.
 *
 * `%%triton` writes `{"triton_lab": {"target": "cpu"}}` (`Ran` in `scenes.py`) into the metadata of every output that
 * shows a launch. Metadata are saved with the notebook, so the badge needs no kernel and outlives a reload.
 */

import type { Ran } from '../../triton_lab/views/front/scenes.d.ts';
import { tr } from '../../triton_lab/views/front/localization.js';

export type Target = Ran['target'];

/** The metadata of one output, as far as we look into it. */
export type OutputMetadata = Readonly<Record<string, unknown>>;

/** What the badge shows, and what its tooltip and a screen reader say. */
export interface IBadgeText {
  readonly text: string;
  readonly label: string;
}

export function badgeText(target: Target): IBadgeText {
  const texts: Readonly<Record<Target, IBadgeText>> = {
    cpu: { text: tr('CPU'), label: tr('Last run on the CPU') },
    gpu: { text: tr('GPU'), label: tr('Last run on the GPU') },
    both: { text: tr('CPU + GPU'), label: tr('Last run on both the CPU and the GPU') }
  };
  return texts[target];
}

/**
 * The target of the cell's last run, or null where no output tells one.
 *
 * A cell may switch targets between its launches: what ran on the CPU and on the GPU ran on both.
 */
export function lastTarget(outputs: Iterable<OutputMetadata>): Target | null {
  const seen = new Set<Target>();
  for (const metadata of outputs) {
    const target = targetOf(metadata);
    if (target !== null) {
      seen.add(target);
    }
  }
  if (seen.size > 1) {
    return 'both';
  }
  return seen.values().next().value ?? null;
}

/** Saved notebooks are input from anywhere: what is not one of our targets is passed over. */
function targetOf(metadata: OutputMetadata): Target | null {
  const ours = metadata['triton_lab'];
  if (typeof ours !== 'object' || ours === null || !('target' in ours)) {
    return null;
  }
  const target = ours.target;
  return target === 'cpu' || target === 'gpu' || target === 'both' ? target : null;
}
