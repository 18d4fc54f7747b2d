/** The pages, once what they ask first is on its way (first.ts). */
import { render } from 'preact'
import { App } from './app.tsx'

const root = document.getElementById('app')
if (root !== null) render(<App />, root)
