/** Asks the user for the condition of a breakpoint. */

import { InputDialog } from '@jupyterlab/apputils';

import { tr } from '../../../triton_lab/views/front/localization.js';

export async function askCondition(before: string): Promise<string | null> {
  const { button, value } = await InputDialog.getText({
    title: tr('Stop at this line if'),
    label: tr('A condition over the variables of the kernel, such as acc.max() > 1e4, pid == 3 or acc becomes NaN'),
    text: before
  });
  return button.accept ? (value ?? '') : null;
}
