/** The bundle holds style sheets as texts. */
declare module '*.css' {
  const text: string;
  export default text;
}
