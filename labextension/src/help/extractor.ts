/**
 * What a language server reads of a `%%triton` cell: Python, in which the magic's line is a comment.
 */

import type { IExtractedCode, IForeignCodeExtractor } from '@jupyterlab/lsp';

import { magicLine } from '../magic.ts';

/** Nothing of it is foreign: the code stays with that of the other cells, whose names it uses, line by line. */
export const extractor: IForeignCodeExtractor = {
  language: 'python',
  cellType: ['code'],
  standalone: false,
  fileExtension: 'py',
  hasForeignCode: (code: string) => magicLine(code.split('\n')) !== null,
  extractForeignCode: (code: string): IExtractedCode[] => {
    const lines = code.split('\n');
    const number = magicLine(lines);
    if (number !== null) {
      // As long as it was, so that what is behind it stays where it is.
      lines[number - 1] = lines[number - 1]!.replace('%%', '# ');
    }
    return [{ foreignCode: null, range: null, virtualShift: null, hostCode: lines.join('\n') }];
  }
};
