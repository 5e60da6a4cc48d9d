/**
 * What the status bar tells of a kernel's targets.
 */

import type { SessionTargets } from '../../../triton_lab/views/front/scenes.d.ts';
import { tr } from '../../../triton_lab/views/front/localization.js';

/** Short, and in full. */
export function statusOf({ known, active, gpu, triton, version }: SessionTargets): { text: string; title: string } {
  const full = `triton-lab ${version}, Triton ${triton}`;
  if (!known) {
    return { text: `Triton ${triton}`, title: tr('{versions}: import Triton to see where kernels run', { versions: full }) };
  }
  const where = active.toUpperCase();
  return {
    text: `Triton ${triton} · ${where}${gpu ? ` · ${gpu}` : ` · ${tr('no GPU')}`}`,
    title: gpu
      ? tr('{versions}: kernels run on the {target}; GPU: {gpu}', { versions: full, target: where, gpu })
      : tr('{versions}: kernels run on the {target}; Triton finds no GPU', { versions: full, target: where })
  };
}
