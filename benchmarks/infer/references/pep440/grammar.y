// Versions of Python packages, as packaging.version.Version reads them.
%start Text
%%
Text: Version | 'SPACE' Version | Version 'SPACE' | 'SPACE' Version 'SPACE';
Version: Public | Public 'LOCAL';
Public: Final | Final 'DEV';
Final: Stage | Stage 'POST';
Stage: 'RELEASE' | 'RELEASE' 'PRE';
