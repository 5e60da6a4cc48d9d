/** Bundles the renderer into one module: `node vscode/build.mjs [FOLDER]`, by default into `vscode/out`. */

import path from 'node:path';

import { rspack } from '@rspack/core';

const here = import.meta.dirname;

const bundler = rspack({
  mode: 'production',
  target: 'web',
  entry: { renderer: path.join(here, 'src', 'renderer.ts') },
  output: {
    path: path.resolve(process.argv[2] ?? path.join(here, 'out')),
    filename: '[name].js',
    module: true,
    chunkFormat: 'module',
    library: { type: 'module' }
  },
  resolve: { extensions: ['.ts', '.js'] },
  module: {
    rules: [
      { test: /\.ts$/, loader: 'builtin:swc-loader', options: { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' } }, type: 'javascript/auto' },
      { test: /\.css$/, type: 'asset/source' }
    ]
  },
  experiments: { outputModule: true },
  performance: { hints: false }
});

bundler.run((error, stats) => {
  const failed = error ?? (stats?.hasErrors() ? new Error(stats.toString({ preset: 'errors-only' })) : null);
  bundler.close(() => {
    if (failed) throw failed;
  });
});
