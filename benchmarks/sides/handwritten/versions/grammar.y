// Versions of Python packages (PEP 440), as packaging.version.Version reads them.
%start Version
%%
Version: Prefix Epoch Release Pre Post Dev Local;
Prefix: | 'v';
Epoch: | 'epoch';
Release: 'number' | Release '.' 'number';
Pre: | 'pre';
Post: | 'post';
Dev: | 'dev';
Local: | 'local';
